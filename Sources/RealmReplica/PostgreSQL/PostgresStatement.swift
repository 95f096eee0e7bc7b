// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The statements of the log. Each is prepared in a connection when it is first used there.
///
/// The head of a realm is a row of its own table, apart from the records: it is updated in its place, and pruning leaves it alone.
/// At the isolation `read committed` an `UPDATE` that waits for the lock of a row looks at the row again when it has it, so a
/// condition in its `WHERE` holds in the moment of the change. That is the whole fence.
enum PostgresStatement: String, CaseIterable, Sendable {
    case begin, commit
    case settings, facts
    case head, heads, touch, claim, barrier, release
    case names
    case append, appendPart, appendRequests, request, forgetRequests, dropRequests
    case checksum, records
    case create, restart, drop, dropped, dropRecords, dropBases, dropBaseParts
    case bases, addBase, addBasePart, basePart, removeBase, removeBaseParts, removeBaseWhileLineage
    case prune
    case beat, nodes, assignments, shards, assign, noteAssignment, forgetNode

    /// The text of the statement.
    var sql: String {
        switch self {
        case .begin: return "begin isolation level read committed"
        case .commit: return "commit"
        case .settings:
            // The settings apply to this connection; values of the server are kept. A statement that a timeout cancels while it
            // waits for standbys would be visible and not durable. A transaction must not keep its locks for hours after its
            // client vanished.
            return """
                select set_config('synchronous_commit', current_setting('synchronous_commit'), false),
                  set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false),
                  set_config('idle_in_transaction_session_timeout', '10s', false), set_config('tcp_keepalives_idle', '10', false),
                  set_config('tcp_keepalives_interval', '3', false), set_config('tcp_keepalives_count', '3', false),
                  set_config('search_path', '', false)
                """
        case .facts:
            return """
                select current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
                  pg_is_in_recovery()::text, current_setting('fsync')
                """
        case .head: return "select \(PostgresStatement.headColumns) from realm_rest.head where realm = $1"
        case .heads: return "select \(PostgresStatement.headColumns), realm from realm_rest.head where realm = any($1::text[])"
        case .touch:
            return """
                insert into realm_rest.touch (node, number) values ($1, 1)
                on conflict (node) do update set number = touch.number + 1
                """
        case .claim:
            return """
                update realm_rest.head set epoch = epoch + 1, node = $2, token = $3 where realm = $1 and epoch = $4
                returning \(PostgresStatement.headColumns)
                """
        case .barrier:
            return """
                update realm_rest.head set barriers = barriers + 1, epoch = epoch + case when token = $2 then 1 else 0 end
                where realm = $1 returning \(PostgresStatement.headColumns)
                """
        case .release: return "update realm_rest.head set node = '', token = '' where realm = $1 and token = $2"
        case .append:
            return """
                with moved as (update realm_rest.head set version = $6, checksum = $7
                  where realm = $1 and version = $2 and checksum = $3 and epoch = $4 and token = $5 returning lineage)
                insert into realm_rest.record (realm, lineage, version, part, checksum, bytes)
                select $1, lineage, $6, 0, $7, $8 from moved
                """
        case .appendPart:
            return """
                insert into realm_rest.record (realm, lineage, version, part, checksum, bytes)
                select $1, lineage, $2, $5, $3, $6 from realm_rest.head
                where realm = $1 and version = $2 and checksum = $3 and token = $4 and epoch = $7
                """
        case .names:
            return """
                select realm from realm_rest.head where lineage <> '' and realm collate "C" > $1
                order by realm collate "C" limit $2::bigint
                """
        case .appendRequests:
            return """
                insert into realm_rest.request (realm, name, digest, lineage, version)
                select $1, one.name, one.digest, lineage, $2
                from realm_rest.head, unnest($6::text[], $7::text[]) as one (name, digest)
                where realm = $1 and version = $2 and checksum = $3 and token = $4 and epoch = $5
                on conflict (realm, name) do update
                set digest = excluded.digest, lineage = excluded.lineage, version = excluded.version, made = now()
                """
        case .request:
            return """
                select digest, lineage, version from realm_rest.request
                where realm = $1 and name = $2 and made > now() - interval '10 minutes'
                """
        case .forgetRequests: return "delete from realm_rest.request where made < now() - interval '11 minutes'"
        case .dropRequests: return "delete from realm_rest.request where realm = $1"
        case .checksum:
            return "select checksum from realm_rest.record where realm = $1 and lineage = $2 and version = $3 and part = 0"
        case .records:
            // The first row of an answer may be of any length; the others are as many as fit.
            return """
                select version, part, bytes from (
                  select version, part, bytes, row_number() over w as number, sum(octet_length(bytes)) over w as total
                  from (select version, part, bytes from realm_rest.record
                    where realm = $1 and lineage = $2 and (version, part) > ($3, $4) and version <= $5
                    order by version, part limit 256) as next
                  window w as (order by version, part)) as counted
                where number = 1 or total <= 4194304 order by version, part
                """
        case .create:
            return """
                insert into realm_rest.head (realm, lineage, version, checksum, epoch, node, token)
                values ($1, $2, $3, $4, $5, $6, $7) on conflict (realm) do update
                set lineage = $2, version = $3, checksum = $4, epoch = $5, node = $6, token = $7 where head.lineage = ''
                """
        case .restart:
            return """
                update realm_rest.head set lineage = $2, version = $3, checksum = $4, epoch = epoch + 1
                where realm = $1 and epoch = $5 and token = $6
                """
        // The remaining row shows former owners that they own nothing, and which files are of no use; a realm of this name can be
        // made anew. No owner has the token.
        case .drop:
            return """
                update realm_rest.head set lineage = '', version = 0, epoch = epoch + 1, node = '', token = 'dropped ' || lineage
                where realm = $1 and token = $2
                """
        case .dropped:
            return "select from realm_rest.head where realm = $1 and lineage = '' and token = 'dropped ' || $2"
        case .dropRecords: return "delete from realm_rest.record where realm = $1"
        case .dropBases: return "delete from realm_rest.base where realm = $1"
        case .dropBaseParts: return "delete from realm_rest.base_part where realm = $1"
        case .bases:
            return """
                select lineage, version, checksum, digest, byte_count, file from realm_rest.base where realm = $1
                order by version desc, number desc
                """
        case .addBase:
            return """
                insert into realm_rest.base (realm, lineage, version, checksum, digest, byte_count, file)
                values ($1, $2, $3, $4, $5, $6, $7)
                """
        case .addBasePart:
            return """
                insert into realm_rest.base_part (realm, lineage, version, part, bytes) values ($1, $2, $3, $4, $5)
                """
        case .basePart:
            return """
                select bytes from realm_rest.base_part where realm = $1 and lineage = $2 and version = $3 and part = $4
                """
        case .removeBase: return "delete from realm_rest.base where realm = $1 and lineage = $2 and version = $3"
        case .removeBaseParts: return "delete from realm_rest.base_part where realm = $1 and lineage = $2 and version = $3"
        case .removeBaseWhileLineage:
            return """
                delete from realm_rest.base where realm = $1 and lineage = $2 and version = $3
                  and exists (select from realm_rest.head where realm = $1 and lineage = $4)
                """
        case .prune:
            return """
                delete from realm_rest.record where realm = $1 and (lineage <> $2 or version <= $3)
                  and exists (select from realm_rest.head where realm = $1 and lineage = $2)
                """
        case .beat:
            // A process keeps its name until it has been silent for a while, or has left. Heartbeats from the future are older
            // than a clock of the server that was set back.
            return """
                insert into realm_rest.node (id, url, token, beat, leaving) values ($1, $2, $3, clock_timestamp(), $4::text::boolean)
                on conflict (id) do update set url = $2, token = $3, beat = clock_timestamp(), leaving = $4::text::boolean
                where node.token = $3 or node.leaving
                  or abs(extract(epoch from clock_timestamp() - node.beat)) > 3
                """
        case .nodes:
            return """
                select id, url, abs(extract(epoch from clock_timestamp() - beat) * 1000)::bigint, leaving::text
                from realm_rest.node order by id
                """
        case .assignments: return "select number from realm_rest.assignment"
        case .shards: return "select id, node from realm_rest.shard where node <> ''"
        case .assign:
            return """
                update realm_rest.shard set node = $1 where id = any($2::text::bigint[]) and node <> $1 and ($3 = '*' or node = $3)
                  and ($4::bigint < 0 or $3 = '' or not exists (select from realm_rest.node where id = $3 and not leaving
                    and abs(extract(epoch from clock_timestamp() - beat)) * 1000 <= $4::bigint))
                """
        case .noteAssignment: return "update realm_rest.assignment set number = number + 1"
        case .forgetNode:
            return "delete from realm_rest.node where id = $1 and not exists (select from realm_rest.shard where node = $1)"
        }
    }

    /// The columns of a head, in the order in which `PostgresRow.head` reads them.
    private static let headColumns = "lineage, version, checksum, epoch, node, token"
}

extension PostgresRow {
    /// Whether the row is what is left of a realm that was dropped.
    var isDropped: Bool { text(0) == "" }

    /// The head that a row states; nil when it is none.
    var head: LogHead? {
        guard let lineage = text(0), let version = number(1), let checksum = bytes(2).flatMap({ LogChecksum($0) }),
            let epoch = number(3), let node = text(4), let token = text(5)
        else { return nil }
        return LogHead(
            lineage: lineage, version: version, checksum: checksum, epoch: epoch, owner: LogOwner(node: node, token: token))
    }
}
