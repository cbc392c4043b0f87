import Foundation

/// What the users of all devices have saved, in the order of their saves, and what each of them saw when they did.
///
/// It says which values may be left in the end: a write may be replaced by one whose author saw it. A write that loses
/// against one whose author did not see it must be in the journal of a device.
package struct Ledger: Sendable {
    package struct Event: Hashable, Sendable {
        package enum Kind: Hashable, Sendable { case creation, write, deletion }
        package var object: Int
        package var kind: Kind
        package var attribute = ""
        package var value: Int?
        /// The value that the author of a write replaced.
        package var replaced: Int?
        /// The values that the author of a deletion saw.
        package var seen: [String: Int] = [:]
        /// Whether the author of a deletion saw no values.
        package var isBlind = false

        package init(
            object: Int, kind: Kind, attribute: String = "", value: Int? = nil, replaced: Int? = nil,
            seen: [String: Int] = [:], isBlind: Bool = false
        ) {
            (self.object, self.kind, self.attribute, self.value) = (object, kind, attribute, value)
            (self.replaced, self.seen, self.isBlind) = (replaced, seen, isBlind)
        }
    }

    package struct Entry: Hashable, Sendable {
        package var event: Event
        package var device: Int
        /// The number of exchanges that the device had begun: of what is saved between two, the last value is
        /// exchanged.
        package var exchange = 0
        /// Whether the store was attached: what was there before is older than every edit, and no conflict.
        package var isAttached: Bool
        /// Whether a backup may have undone it: it was saved after the backup, and not sent.
        package var isUndone = false
        /// Whether it was sent, but the device that made it was restored: its journal does not know it.
        package var isForgotten = false
    }

    package private(set) var entries: [Entry] = []
    /// The numbers that journals have of values that lost.
    package var journaled: Set<Int> = []
    /// Large values of the journal, by digest.
    package var digests: [Data: Int] = [:]
    private var exchanges: [Int: Int] = [:]

    package init() {}

    package mutating func add(_ event: Event, of device: Int, isAttached: Bool = true) {
        let exchange = exchanges[device, default: 0]
        entries.append(Entry(event: event, device: device, exchange: exchange, isAttached: isAttached))
    }

    /// A device reads what was saved up to now.
    package mutating func beginExchange(of device: Int) { exchanges[device, default: 0] += 1 }

    /// A device goes back to its state after `position` entries; what it had sent up to `sent` stays in the place.
    package mutating func restore(_ device: Int, to position: Int, sent: Int) {
        for index in entries.indices where entries[index].device == device {
            if index >= position, index >= sent { entries[index].isUndone = true }
            entries[index].isForgotten = true
        }
    }
}
