import CoreDataSyncEngine
import Foundation

/// States of one file, to be applied together.
package struct IncomingPart: Sendable {
    package var states: [ObjectState]
    /// The segments that the writer of the file had received, or that a snapshot contains.
    package var seen: VersionVector

    /// The hash of the writer's model; `nil` if it is not known.
    package var modelHash: Data?
    /// Which values of new objects are nil where their states do not name them.
    package var nilNames: NilNames

    package init(
        states: [ObjectState], seen: VersionVector, modelHash: Data? = nil, nilNames: NilNames = NilNames()
    ) {
        (self.states, self.seen, self.modelHash, self.nilNames) = (states, seen, modelHash, nilNames)
    }

    init(_ segment: Segment, _ states: [ObjectState]? = nil, seen: VersionVector? = nil) {
        self.init(
            states: states ?? segment.states, seen: seen ?? segment.seen, modelHash: segment.modelHash,
            nilNames: segment.nilNames)
    }
}

/// Which of this device's writes the writer of a file did not know.
struct OwnSegments: Hashable, Sendable {
    /// The number of each segment and the ticks of its last stamp, ascending.
    private(set) var ends: [End] = []

    struct End: Hashable, Sendable, Codable {
        var number: UInt64
        var ticks: UInt64
    }

    /// The name under which settings keep the ends.
    static let extra = "segments"

    init(_ settings: SidecarSettings) {
        guard let data = settings.extras[Self.extra], let ends = try? JSONDecoder().decode([End].self, from: data)
        else {
            return
        }
        self.ends = ends
    }

    mutating func append(_ number: UInt64, ticks: UInt64) { ends.append(End(number: number, ticks: ticks)) }

    /// Removes the segments that all other devices have received.
    mutating func removeAll(upTo number: UInt64) { ends.removeAll { $0.number <= number } }

    func write(to settings: inout SidecarSettings) { settings.extras[Self.extra] = try? JSONEncoder().encode(ends) }

    /// Whether a device that has received `seen` did not know the write of `device`, which is this one, with that
    /// stamp.
    func isUnknown(_ stamp: Stamp, of device: DeviceID, to seen: VersionVector) -> Bool {
        guard stamp.device == device, !stamp.isSeed else { return false }
        // A segment that is no longer listed was received by all.
        guard let first = ends.first(where: { $0.ticks >= stamp.ticks }) else {
            return ends.last.map { $0.ticks < stamp.ticks } ?? false
        }
        return !seen.contains(device, first.number)
    }
}
