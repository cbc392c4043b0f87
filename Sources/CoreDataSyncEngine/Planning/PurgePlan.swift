import Foundation

/// Which of a device's own files no device needs any more, and whether the device should write a snapshot.
///
/// A segment is deleted if the newest snapshot of the device contains it and every other device with a lease has
/// received it. If a device with a lease stays away, segments are kept for it as long as they weigh no more than the
/// snapshot: beyond that, the snapshot is the shorter way to the same state.
///
///     let plan = PurgePlan(device: device, hellos: hellos, segments: segments, snapshots: snapshots, ownHellos: [3, 4], now: now)
///     if plan.isSnapshotDue { … }
///     try await exchange.delete(plan.files)
package struct PurgePlan: Hashable, Sendable {
    /// The files that can be deleted: segments, snapshots, hellos, then large values.
    package let files: [FileName]
    /// Whether a snapshot is due: it lets other devices read one file instead of many, and segments be deleted.
    package let isSnapshotDue: Bool

    /// A segment of the device in the place.
    package struct OwnSegment: Hashable, Sendable {
        package var number: UInt64
        package var size: Int

        package init(_ number: UInt64, size: Int) { (self.number, self.size) = (number, size) }
    }

    /// A snapshot of the device in the place.
    package struct OwnSnapshot: Hashable, Sendable {
        package var number: UInt64
        package var size: Int
        package var contains: VersionVector

        package init(_ number: UInt64, size: Int, contains: VersionVector) {
            (self.number, self.size, self.contains) = (number, size, contains)
        }
    }

    /// - Parameters:
    ///   - hellos: of all devices, in any order; of each device the one with the greatest number is valid.
    ///   - ownHellos: the numbers of the device's hellos in the place.
    ///   - blobs: the large values of the device in the place.
    ///   - neededBlobs: those that states of this device, its outgoing segments, its segments in the place or its
    ///     snapshots name.
    ///   - now: milliseconds since 2001-01-01 UTC.
    package init(
        device: DeviceID, hellos: [Hello], segments: [OwnSegment], snapshots: [OwnSnapshot], ownHellos: [UInt64],
        blobs: Set<Data> = [], neededBlobs: Set<Data> = [], now: UInt64
    ) {
        let readers = Self.readers(hellos, but: device, now: now)
        let newest = snapshots.max { $0.number < $1.number }
        var files: [FileName] = []

        if let newest {
            let contained = segments.filter { newest.contains.contains(device, $0.number) }
                .sorted { $0.number < $1.number }
            var kept: [OwnSegment] = []
            for segment in contained {
                if readers.allSatisfy({ $0.seen.contains(device, segment.number) }) {
                    files.append(.segment(segment.number))
                } else {
                    kept.append(segment)
                }
            }
            var weight = kept.reduce(0) { $0 + $1.size }
            for segment in kept where weight > newest.size {
                files.append(.segment(segment.number))
                weight -= segment.size
            }
            files += snapshots.map(\.number).filter { $0 < newest.number }.sorted().map(FileName.snapshot)
        }
        if let last = ownHellos.max() {
            files += ownHellos.filter { $0 < last }.sorted().map(FileName.hello)
        }
        files += blobs.subtracting(neededBlobs).sorted { $0.lexicographicallyPrecedes($1) }.map(FileName.blob)
        self.files = files

        let loose = segments.filter { segment in newest.map { !$0.contains.contains(device, segment.number) } ?? true }
        isSnapshotDue = Self.isSnapshotDue(
            looseSegments: loose.count, ofSize: loose.reduce(0) { $0 + $1.size }, snapshot: newest?.size)
    }

    /// Whether the segments that no snapshot contains outweigh the last snapshot, or are too many to list.
    ///
    /// - Parameter snapshot: the size of the last snapshot, `nil` without one.
    package static func isSnapshotDue(looseSegments count: Int, ofSize size: Int, snapshot: Int?) -> Bool {
        let last = snapshot ?? 0
        if size > max(last, 64 * 1024) { return true }
        // Small segments of a large store: writing it all again for each thousand saves would cost more than reading
        // them.
        return count >= 10_000 || count >= 1_000 && size > last / 16
    }

    /// The valid hellos of the other devices that have a lease.
    private static func readers(_ hellos: [Hello], but device: DeviceID, now: UInt64) -> [Hello] {
        var newest: [DeviceID: Hello] = [:]
        for hello in hellos where hello.device != device {
            if let known = newest[hello.device], known.number >= hello.number { continue }
            newest[hello.device] = hello
        }
        return newest.values.filter { $0.hasLease(now: now) }
    }
}
