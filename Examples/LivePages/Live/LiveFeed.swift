import Foundation
import Hummingbird

/// Sends changes to the pages that are open: a stream gets the events of its lists, and the counts.
///
/// One stream serves all tabs of a browser, so it may be for several lists; each patch names its own.
///
/// Every event has a number. A page that lost its connection tells the last one that it saw and gets what came after, as long
/// as that is kept; else it is told to read itself anew.
@MainActor package final class LiveFeed {
    private struct Event {
        let number: Int
        /// `nil` for every page.
        let list: String?
        let bytes: ByteBuffer
    }

    private struct Subscriber {
        let lists: Set<String>
        let continuation: AsyncStream<ByteBuffer>.Continuation
    }

    private static let kept = 256
    /// How many events wait for a slow reader before it is let go; it comes back and catches up.
    private static let waiting = 128
    /// The largest number of streams at a time: each keeps a connection and a file descriptor of the process.
    package var mostSubscribers = 500

    /// Tells this run of the server from others, whose numbers mean nothing here.
    private let run = String(UInt32.random(in: .min ... .max), radix: 36)
    private var number = 0
    private var events: [Event] = []
    private var subscribers: [Int: Subscriber] = [:]
    private var lastSubscriber = 0
    private var isClosed = false
    private let encoder = JSONEncoder()

    package init() { encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes] }

    /// Where the feed stands now: what a page that is made now has seen.
    package var position: String { "\(run).\(number)" }
    package var subscriberCount: Int { subscribers.count }

    /// Sends an event to the pages of a list, or to all.
    package func send(_ name: StaticString, _ content: some Encodable, to list: String? = nil) {
        guard let json = try? encoder.encode(content) else { return }
        number += 1
        var bytes = ByteBuffer()
        bytes.writeString("id: \(run).\(number)\nevent: \(name)\ndata: ")
        bytes.writeBytes(json)
        bytes.writeString("\n\n")
        events.append(Event(number: number, list: list, bytes: bytes))
        if events.count > Self.kept { events.removeFirst(events.count - Self.kept) }
        for (id, subscriber) in subscribers where list.map(subscriber.lists.contains) ?? true {
            offer(bytes, to: id, subscriber)
        }
    }

    /// Sends a patch to the pages of a list.
    package func send(_ patch: LivePatch, to list: String) {
        var patch = patch
        patch.list = list
        send("patch", patch, to: list)
    }

    /// Has every page read itself anew.
    package func sendStale() { send("stale", [String: String]()) }

    private func offer(_ bytes: ByteBuffer, to id: Int, _ subscriber: Subscriber) {
        if case .dropped = subscriber.continuation.yield(bytes) {
            subscriber.continuation.finish()
            subscribers[id] = nil
        }
    }

    /// Returns the events of the lists from now on, beginning with those after the position; `nil` if the number of streams has
    /// reached its limit.
    package func subscribe(to lists: Set<String>, after position: String?) -> AsyncStream<ByteBuffer>? {
        guard subscribers.count < mostSubscribers else { return nil }
        let (stream, continuation) = AsyncStream<ByteBuffer>.makeStream(
            bufferingPolicy: .bufferingOldest(Self.waiting + Self.kept))
        if isClosed {
            continuation.finish()
            return stream
        }
        lastSubscriber += 1
        let id = lastSubscriber
        subscribers[id] = Subscriber(lists: lists, continuation: continuation)
        continuation.onTermination = { [weak self] _ in
            Task { @MainActor in self?.subscribers[id] = nil }
        }
        continuation.yield(ByteBuffer(string: "retry: 1000\n\n"))
        if let missed = missed(lists, after: position) {
            for event in missed { continuation.yield(event.bytes) }
        } else {
            continuation.yield(ByteBuffer(string: "id: \(self.position)\nevent: stale\ndata: {}\n\n"))
        }
        return stream
    }

    /// What came after that position; `nil` where that is not known any more.
    private func missed(_ lists: Set<String>, after position: String?) -> [Event]? {
        let parts = (position ?? "").split(separator: ".")
        guard parts.count == 2, parts[0] == run, let seen = Int(parts[1]), seen <= number,
            seen >= (events.first?.number ?? number + 1) - 1
        else { return nil }
        return events.filter { $0.number > seen && ($0.list.map(lists.contains) ?? true) }
    }

    /// Keeps connections open, and finds those that are not.
    package func beat() {
        let bytes = ByteBuffer(string: ":\n\n")
        for (id, subscriber) in subscribers { offer(bytes, to: id, subscriber) }
    }

    /// Ends every stream, and those that come later at once, so that the server can stop.
    package func close() {
        isClosed = true
        for subscriber in subscribers.values { subscriber.continuation.finish() }
        subscribers = [:]
    }
}
