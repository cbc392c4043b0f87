import CoreDataSyncEngine
import Foundation

/// A portion of what the other devices have sent.
package struct Received: Sendable {
    /// Segments that the caller did not know, in any order.
    package var segments: [Segment] = []
    /// Snapshots that contain segments which are needed and cannot be read.
    package var snapshots: [Snapshot] = []
    /// The newest hello of each other device that could be read, now or before.
    package var hellos: [Hello] = []
    /// Files that cannot be read at present, from this call and earlier ones.
    package var faults: [Fault] = []
    /// Segments that exist or existed, but were neither known nor received, nor can they be read at present.
    package var missing = VersionVector()
    /// The devices whose files wait because they have stamps more than a day ahead, each with the latest time:
    /// milliseconds since 2001-01-01 UTC.
    package var future: [DeviceID: UInt64] = [:]
    /// Whether there is more to read at once: the portion was full.
    package var hasMore = false
    /// The files of this device that the place shows; `nil` if they could not be listed. If it stays empty although
    /// this device has sent segments, the place was emptied or exchanged: a new snapshot brings everything back.
    package var own: DeviceFiles?
    /// The number of an intact segment in this device's folder that is greater than `lastSegment`: the device is a
    /// copy, or was restored from a backup, and needs a new ID. If another process may send for the same store, the
    /// caller first reads its last number again.
    package var strangeSegment: UInt64?
    /// Why the portion ended early, or a folder was left out.
    package var failure: (any Error)?

    package init() {}

    /// A file that cannot be read at present.
    package struct Fault: Sendable, CustomStringConvertible {
        package let key: FileKey
        package let fault: FileFault
        package let attempts: Int
        /// When it is read again: milliseconds since 2001-01-01 UTC.
        package let nextAttempt: UInt64

        package var description: String { "Device \(key.device): \(fault)" }
    }

    /// The devices that have left, and those that were silent for longer than their lease: no device keeps segments for
    /// them.
    package func devicesWithoutLease(now: UInt64) -> [DeviceID] {
        hellos.filter { !$0.hasLease(now: now) }.map(\.device)
    }

    /// The segments that the caller knows when it has kept this portion.
    package func known(_ before: VersionVector) -> VersionVector {
        var result = before
        for snapshot in snapshots { result.formUnion(snapshot.contains) }
        for segment in segments { result.insert(segment.device, segment.number) }
        return result
    }
}
