"""How subscriptions travel: many of them on one registration, read by a stream or by long-poll."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable, List, Mapping, TypeVar

from .backoff import Backoff
from .changes import Diverged
from .errors import ConnectionLost, LiveEnded, Problem, RealmRestError, RequestTimeout, Unauthenticated
from .follow import LiveDict, LiveObject, LiveSections, RealmChanges
from .live import Live, LiveList
from .sse import EventParser, ServerEvent, StreamTooWide

if TYPE_CHECKING:
    from .realm import Realm

L = TypeVar("L", bound=Live[Any])


@dataclass(frozen=True)
class Options:
    """How live objects are kept current."""

    #: `auto` streams, and polls where streams do not come through; `stream` and `poll` do one of them.
    transport: str = "auto"
    #: The longest silence of a stream in seconds: above twice the heartbeat of the server, which is 15 s.
    silence: float = 40.0
    #: How long a poll waits at the server, at most 55 seconds.
    poll_wait: int = 25
    #: How many changes wait for the reader of `changes()` before they are joined.
    queue: int = 256
    #: The longest pause in seconds before the server is sought again; pauses begin with a fraction of a second and grow.
    longest_pause: float = 30.0
    #: For how long new subscriptions are collected before they are registered together.
    gather: float = 0.005
    #: With more streams than this, subscriptions are moved together. The server allows a client 20.
    streams: int = 4
    #: After how many seconds of polling, for want of a working stream, a stream is tried again.
    retry_stream: float = 300.0


class Hub:
    """All that is live in one realm."""

    def __init__(self, realm: "Realm", options: Options) -> None:
        self.realm = realm
        self.options = options
        self.channels: list[Channel] = []
        #: How many subscriptions the server takes in one registration, once it has said so.
        self.names: int | None = None
        self._waiting: list[Live[Any]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._farewells: set[asyncio.Task[None]] = set()
        self._closed = False

    async def list(self, class_name: str, definition: Mapping[str, Any], property: str | None,
                   timeout: float) -> LiveList[Any]:
        return await self._begin(LiveList(self, class_name, definition, property), timeout)

    async def sections(self, class_name: str, definition: Mapping[str, Any], timeout: float) -> LiveSections:
        return await self._begin(LiveSections(self, class_name, definition), timeout)

    async def dictionary(self, class_name: str, definition: Mapping[str, Any], property: str, timeout: float) -> LiveDict:
        return await self._begin(LiveDict(self, class_name, definition, property), timeout)

    async def object(self, class_name: str, definition: Mapping[str, Any], timeout: float) -> LiveObject:
        return await self._begin(LiveObject(self, class_name, definition), timeout)

    def realm_changes(self) -> RealmChanges:
        live = RealmChanges(self)
        self.enlist([live])
        return live

    def enlist(self, lives: Iterable[Live[Any]]) -> None:
        """Takes up new subscriptions; those of the same moment share a registration."""
        if self._closed:
            raise RealmRestError("the server's client is closed")
        self._waiting.extend(lives)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.options.gather, self._flush)

    def detach(self, live: Live[Any]) -> None:
        """Forgets a subscription that has ended."""
        self._waiting = [waiting for waiting in self._waiting if waiting is not live]
        for channel in list(self.channels):
            channel.remove(live)

    async def nudge(self, live: Live[Any]) -> None:
        """Asks whether the newest version has changes for what is live; if not, that version is reached."""
        for channel in self.channels:
            if any(member is live for member in channel.members.values()):
                await channel.nudge()
                return

    def retire(self, channel: Channel) -> None:
        if channel in self.channels:
            self.channels.remove(channel)

    def say_farewell(self, registration: str) -> None:
        """Ends a registration at the server, in the background; it would expire by itself."""
        async def farewell() -> None:
            try:
                await self.realm.send("DELETE", f"/subscriptions/{registration}", timeout=5)
            except RealmRestError:
                pass

        task = asyncio.ensure_future(farewell())
        self._farewells.add(task)
        task.add_done_callback(self._farewells.discard)

    async def close(self) -> None:
        """Ends everything that is live."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        channels = list(self.channels)
        for live in [*self._waiting, *(live for channel in channels for live in channel.members.values())]:
            await live.close()
        for channel in channels:
            await channel.stop()
        if self._farewells:
            await asyncio.wait(self._farewells, timeout=5)

    async def _begin(self, live: L, timeout: float) -> L:
        self.enlist([live])
        try:
            await asyncio.wait_for(asyncio.shield(live._ready), timeout)
        except BaseException as error:
            cause = live.error
            await live.close()
            if isinstance(error, asyncio.TimeoutError):
                raise cause or ConnectionLost("the subscription did not begin in time") from error
            if isinstance(error, asyncio.CancelledError) and live.deleted:
                raise LiveEnded("the object was deleted before it could be followed") from None
            raise
        return live

    def _flush(self) -> None:
        self._timer = None
        lives = [live for live in self._waiting if live.state != "ended"]
        self._waiting.clear()
        if not lives:
            return
        if len(self.channels) >= self.options.streams:
            lives = self._gathered() + lives
        size = self.names or len(lives)
        for start in range(0, len(lives), size):
            channel = Channel(self, lives[start:start + size])
            self.channels.append(channel)
            channel.start()

    def _gathered(self) -> List[Live[Any]]:
        """The subscriptions of channels that have room, to be moved together. They read their contents anew."""
        moved: list[Live[Any]] = []
        for channel in list(self.channels):
            if self.names is None or len(channel.members) < self.names:
                moved += channel.release()
        return moved


class Channel:
    """One registration, and the stream or the polls that read it."""

    _numbers = itertools.count()

    def __init__(self, hub: Hub, lives: List[Live[Any]]) -> None:
        self.hub = hub
        self.members: dict[str, Live[Any]] = {f"s{next(self._numbers)}": live for live in lives}
        self.position: str | None = None
        self.polling = hub.options.transport == "poll"
        self.registration: str | None = None
        self._registered = 0
        self._task: asyncio.Task[None] | None = None
        self._backoff = Backoff(longest=hub.options.longest_pause)
        self._broken_streams = 0
        self._refusals = 0
        self._stream_again = 0.0
        self._awaited: set[str] = set()
        self._question: asyncio.Task[None] | None = None
        self._server_retry: float | None = None

    def start(self) -> None:
        self._task = asyncio.ensure_future(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self._leave()

    def remove(self, live: Live[Any]) -> None:
        """Takes a subscription out; the last one ends the channel."""
        for name, member in list(self.members.items()):
            if member is live:
                del self.members[name]
                if not self.members:
                    self.release()

    def release(self) -> List[Live[Any]]:
        """Ends the channel, and hands back what it carried."""
        lives = list(self.members.values())
        self.members.clear()
        self.hub.retire(self)
        # The channel may be ending itself, from within its own task, which then sees that nothing is left.
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
        self._leave()
        return lives

    def _leave(self) -> None:
        registration, self.registration = self.registration, None
        if registration is not None:
            self.hub.say_farewell(registration)

    async def _run(self) -> None:
        while self.members:
            pause: float | None
            try:
                await self._connect()
                pause = self._backoff.next()
            except Diverged as error:
                self.position = None
                pause = self._lost(error, None)
            except Problem as error:
                pause = self._judge(error)
            except (ConnectionLost, StreamTooWide, ValueError) as error:
                # The first attempt comes at once: most connections are lost for a moment only.
                pause = self._lost(error, self._server_retry if self._backoff.failures > 2 else None)
            if self.members and pause:
                await asyncio.sleep(pause)
        self._leave()
        self.hub.retire(self)

    async def _connect(self) -> None:
        await self.hub.realm.known_schema()
        if self.registration is None:
            await self._register()
        if not self.members:
            return
        if self.polling:
            await self._poll()
        else:
            await self._stream()

    # Registering

    async def _register(self) -> None:
        """Registers all members; those that the server refuses end, and those beyond its limit go elsewhere."""
        while self.members:
            body = {"subscriptions": {name: live.definition for name, live in self.members.items()}}
            try:
                answer = await self.hub.realm.send("POST", "/subscriptions", body=body)
            except Problem as problem:
                if not self._refused(problem):
                    raise
            else:
                self.registration = answer.json()["id"]
                self._registered = len(self.members)
                return

    def _refused(self, problem: Problem) -> bool:
        """Whether the problem concerned single subscriptions, which are taken out."""
        steps = (problem.pointer or "").split("/")
        if steps[1:2] != ["subscriptions"]:
            return False
        limit = problem.body.get("limit")
        if len(steps) == 2 and isinstance(limit, int) and 0 < limit < len(self.members):
            self.hub.names = limit
            spilled = [self.members.pop(name) for name in list(self.members)[limit:]]
            self.hub.enlist(spilled)
            return True
        live = self.members.pop(steps[2], None) if len(steps) > 2 else None
        if live is None:
            return False
        if problem.code == "object_not_found" and live.version is not None:
            live.vanish()
        else:
            live.fail(problem)
        return True

    # Reading

    def _query(self) -> dict[str, Any]:
        query = {"subscription": self.registration}
        if self.position is not None:
            query["since"] = self.position
        self._awaited = set() if self.position is not None else set(self.members)
        return query

    async def _stream(self) -> None:
        transport = self.hub.realm.transport
        silence = self.hub.options.silence
        try:
            response = await transport.open("GET", self.hub.realm.path + "/changes", query=self._query(), pause=silence,
                                            headers={"Accept": "text/event-stream", "Cache-Control": "no-store"})
        except RequestTimeout:
            # The server answers before it evaluates anything, so something holds the answer back.
            self._note_broken_stream()
            raise
        parser = EventParser()
        pending: list[tuple[str, Any]] = []
        caught_up = False
        try:
            async for piece in transport.lines(response):
                for event in parser.feed(piece):
                    if not await self._take(event, pending):
                        return
                    if event.name == "ready":
                        caught_up = True
                        self._broken_streams = 0
                    if event.id is not None and self._trim():
                        return
                self._server_retry = parser.retry_seconds
            raise ConnectionLost("the stream ended without notice")
        finally:
            response.close()
            if not caught_up:
                self._note_broken_stream()

    async def _take(self, event: ServerEvent, pending: List[tuple[str, Any]]) -> bool:
        """One event; False ends the stream in good order."""
        body: Any = json.loads(event.data) if event.data else None
        if event.name in ("snapshot", "changes", "reset", "schema"):
            pending.append((event.name, body))
        if event.name == "schema" or (event.name == "reset" and body["reason"] in ("epoch", "schema")):
            self.hub.realm.forget_schema()
        elif event.name == "error":
            self.registration = self.registration if body.get("retryable") else None
            raise StreamProblem(int(body.get("status", 500)), body)
        elif event.name == "end":
            return self._ended(str(body.get("reason")))
        if event.id is not None:
            await self._commit(pending, event.id)
            pending.clear()
        return True

    def _ended(self, reason: str) -> bool:
        if reason == "deleted":
            self.registration = None
            self._fail_all(LiveEnded("the registration or the realm was deleted"))
        elif reason == "unauthenticated" and not self.hub.realm.transport.renewable:
            self._fail_all(LiveEnded("the credential is not valid any more"))
        else:
            self._lose(ConnectionLost(f"the server ended the stream: {reason}"))
        return False

    async def _poll(self) -> None:
        wait = self.hub.options.poll_wait
        while self.members and self.polling:
            query = {**self._query(), "wait": wait}
            answer = await self.hub.realm.send("GET", "/changes", query=query, timeout=wait + 20,
                                               headers={"Accept": "application/json"})
            body = answer.json()
            reset = body["reset"]
            if body["schema"] or (reset and reset["reason"] in ("epoch", "schema")):
                self.hub.realm.forget_schema()
            pending = [(kind, body[kind]) for kind in ("schema", "reset") if body[kind]]
            pending += [("snapshot", part) for part in body["snapshots"]]
            pending += [("changes", part) for part in body["changes"]]
            await self._commit(pending, body["next"])
            if self._trim():
                return
            if self.hub.options.transport == "auto" and time.monotonic() > self._stream_again:
                self.polling = False

    async def _commit(self, pending: List[tuple[str, Any]], position: str) -> None:
        """Applies what came since the last position. Nothing else runs meanwhile, so all copies are of one version."""
        schema = await self.hub.realm.known_schema()
        parts: dict[str, list[Any]] = {}
        is_new = False
        for kind, body in pending:
            if kind == "schema":
                is_new = True
                continue
            if kind == "reset":
                self._awaited.update(body["subs"])
                for name in body["subs"]:
                    parts.pop(name, None)
                continue
            live = self.members.get(body["sub"])
            if live is None:
                continue
            if kind == "changes":
                if isinstance(live, RealmChanges):
                    if live.version is None:
                        live.rebase(body["from"])
                    body["schema"] = is_new
                live.take_set(body, schema)
                continue
            parts.setdefault(body["sub"], []).append(body)
            if body["last"]:
                self._awaited.discard(body["sub"])
                live.take_snapshot(parts.pop(body["sub"]), schema)
        self._settle_awaited(position)
        self.position = position
        for live in list(self.members.values()):
            live.advance(position)
        self._backoff.reset()
        self._refusals = 0

    def _settle_awaited(self, position: str) -> None:
        """What should have had a snapshot and has none does not exist any more."""
        for name in self._awaited:
            live = self.members.get(name)
            if isinstance(live, RealmChanges):
                live.begin()
                live.rebase(position)
            elif live is not None:
                del self.members[name]
                live.vanish()
        self._awaited = set()

    async def nudge(self) -> None:
        """Asks what there is since the position. If it is nothing, everything is of the newest version.

        Many that wait share one question. What there is, the stream or the poll brings anyway.
        """
        if self._question is None or self._question.done():
            self._question = asyncio.ensure_future(self._ask())
        await asyncio.shield(self._question)

    async def _ask(self) -> None:
        position = self.position
        if position is None or self.registration is None:
            return
        query = {"subscription": self.registration, "since": position, "wait": 0}
        try:
            body = (await self.hub.realm.send("GET", "/changes", query=query, headers={"Accept": "application/json"})).json()
        except RealmRestError:
            return
        nothing = not (body["changes"] or body["snapshots"] or body["reset"] or body["schema"])
        if nothing and self.position == position:
            for live in list(self.members.values()):
                live.advance(body["next"], quietly=True)

    # Losing and failing

    def _trim(self) -> bool:
        """Whether most of the registration is not read any more; then the rest registers anew and goes on."""
        if len(self.members) * 2 >= self._registered or not self.members:
            return not self.members
        self._leave()
        return True

    def _note_broken_stream(self) -> None:
        self._broken_streams += 1
        if self._broken_streams >= 3 and self.hub.options.transport == "auto":
            # Something on the way holds streams back.
            self._broken_streams = 0
            self.polling = True
            self._stream_again = time.monotonic() + self.hub.options.retry_stream

    def _judge(self, problem: Problem) -> float | None:
        """What follows from a problem: the pause before the next attempt, or the end of everything."""
        if isinstance(problem, StreamProblem) and not problem.retryable:
            self._refusals += 1
            self.position = None
            if self._refusals >= 3 or problem.status == 403:
                self._fail_all(LiveEnded("the server ended the subscription", problem))
            return self._lost(problem, None)
        if problem.code in ("not_found", "subscription_expired") and self.registration is not None:
            # The registration did not outlive a restart or an absence; the position may still be good.
            self.registration = None
            return self._lost(problem, None)
        if isinstance(problem, Unauthenticated) and self.hub.realm.transport.renewable and self._refusals < 3:
            self._refusals += 1
            return self._lost(problem, None)
        if problem.retryable or problem.status >= 500:
            return self._lost(problem, problem.retry_after)
        self._fail_all(problem if self.position is None else LiveEnded("the server refuses the subscription", problem))
        return None

    def _lost(self, error: Exception, at_least: float | None) -> float:
        self._lose(error)
        return self._backoff.next(min(at_least, 60) if at_least else None)

    def _lose(self, error: Exception) -> None:
        for live in self.members.values():
            live.lose(error)

    def _fail_all(self, error: RealmRestError) -> None:
        lives = list(self.members.values())
        self.members.clear()
        for live in lives:
            live.fail(error)


class StreamProblem(Problem):
    """A problem that came as an event of a stream."""


__all__ = ["Channel", "Hub", "Options"]
