// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The tables of the log.
enum PostgresSchema {
    /// The number of the form of the tables.
    static let form = 1

    /// Statements that create missing tables; otherwise a no-op.
    ///
    /// Heads are updated in their pages, for which these have room, and are vacuumed often; records are inserted and deleted only,
    /// and not compressed, which would take longer than the rest of an append.
    static let statements = [
        "select pg_advisory_xact_lock(7242003610)",
        "create schema if not exists realm_rest",
        "create table if not exists realm_rest.form (number integer primary key)",
        "insert into realm_rest.form (number) select \(form) where not exists (select from realm_rest.form)",
        """
        create table if not exists realm_rest.head (
          realm text primary key, lineage text not null, version bigint not null, checksum bytea not null,
          epoch bigint not null, node text not null, token text not null, barriers bigint not null default 0)
        with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02)
        """,
        "create index if not exists head_name on realm_rest.head (realm collate \"C\") where lineage <> ''",
        """
        create table if not exists realm_rest.record (
          realm text not null, lineage text not null, version bigint not null, part bigint not null,
          checksum bytea not null, bytes bytea not null, primary key (realm, lineage, version, part))
        with (autovacuum_vacuum_scale_factor = 0.05)
        """,
        """
        do $$ begin
          if exists (select from pg_catalog.pg_attribute
            where attrelid = 'realm_rest.record'::regclass and attname = 'bytes' and attstorage <> 'e')
          then alter table realm_rest.record alter column bytes set storage external; end if;
        end $$
        """,
        """
        create table if not exists realm_rest.request (
          realm text not null, name text not null, digest text not null, lineage text not null, version bigint not null,
          made timestamptz not null default now(), primary key (realm, name))
        """,
        "create index if not exists request_made on realm_rest.request (made)",
        """
        create table if not exists realm_rest.base (
          realm text not null, lineage text not null, version bigint not null, checksum bytea not null,
          digest bytea not null, byte_count bigint not null, number bigint not null generated always as identity,
          made timestamptz not null default now(), primary key (realm, lineage, version))
        """,
        "alter table realm_rest.base add column if not exists file text not null default ''",
        """
        create table if not exists realm_rest.base_part (
          realm text not null, lineage text not null, version bigint not null, part bigint not null,
          bytes bytea not null, primary key (realm, lineage, version, part))
        """,
        """
        create table if not exists realm_rest.node (
          id text primary key, url text not null, token text not null, beat timestamptz not null, leaving boolean not null)
        with (fillfactor = 50)
        """,
        "create table if not exists realm_rest.touch (node text primary key, number bigint not null) with (fillfactor = 50)",
        "create table if not exists realm_rest.shard (id bigint primary key, node text not null)",
        "insert into realm_rest.shard select number, '' from generate_series(0, \(Shard.count - 1)) number on conflict do nothing",
        "create table if not exists realm_rest.assignment (number bigint not null)",
        "insert into realm_rest.assignment select 0 where not exists (select from realm_rest.assignment)",
    ]
}
