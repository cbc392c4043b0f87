import CoreDataSyncEngine
import Foundation

/// The files that a listing shows in one device's folder; files with other names are not in it.
package struct DeviceFiles: Hashable, Sendable {
    /// Ascending, each once.
    package private(set) var hellos: [UInt64] = []
    package private(set) var segments: [UInt64] = []
    package private(set) var snapshots: [UInt64] = []
    package private(set) var blobs: Set<Data> = []
    package private(set) var models: Set<Data> = []

    package init() {}

    package init(_ names: [String]) {
        for name in names {
            switch FileName(name) {
            case .hello(let number)?: hellos.append(number)
            case .segment(let number)?: segments.append(number)
            case .snapshot(let number)?: snapshots.append(number)
            case .blob(let digest)?: blobs.insert(digest)
            case .model(let hash)?: models.insert(hash)
            case nil: break
            }
        }
        hellos = Self.ascending(hellos)
        segments = Self.ascending(segments)
        snapshots = Self.ascending(snapshots)
    }

    package var isEmpty: Bool {
        hellos.isEmpty && segments.isEmpty && snapshots.isEmpty && blobs.isEmpty && models.isEmpty
    }

    package func contains(_ file: FileName) -> Bool {
        switch file {
        case .hello(let number): hellos.contains(number)
        case .segment(let number): segments.contains(number)
        case .snapshot(let number): snapshots.contains(number)
        case .blob(let digest): blobs.contains(digest)
        case .model(let hash): models.contains(hash)
        }
    }

    private static func ascending(_ numbers: [UInt64]) -> [UInt64] {
        var result: [UInt64] = []
        result.reserveCapacity(numbers.count)
        for number in numbers.sorted() where number != result.last { result.append(number) }
        return result
    }
}

extension DeviceID {
    /// The device of a folder's name; `nil` for a folder of another program.
    package init?(folder name: String) {
        guard name.utf8.count == 36, let uuid = UUID(uuidString: name) else { return nil }
        self.init(uuid)
        // One folder for each device: names in capitals are not ours.
        if description != name { return nil }
    }
}

extension VersionVector {
    /// The segments of this vector that another one does not contain.
    func subtracting(_ other: Self) -> Self {
        var result = Self()
        for device in devices {
            let known = other.ranges(of: device)
            for range in ranges(of: device) {
                var next: UInt64? = range.lowerBound
                for hole in known where hole.upperBound >= range.lowerBound && hole.lowerBound <= range.upperBound {
                    guard let start = next else { break }
                    if start < hole.lowerBound { result.insert(device, start...(hole.lowerBound - 1)) }
                    next = hole.upperBound < range.upperBound ? hole.upperBound + 1 : nil
                }
                if let start = next { result.insert(device, start...range.upperBound) }
            }
        }
        return result
    }

    /// Whether both contain a segment.
    func intersects(_ other: Self) -> Bool {
        devices.contains { device in
            let others = other.ranges(of: device)
            return !others.isEmpty && ranges(of: device).contains { range in others.contains { $0.overlaps(range) } }
        }
    }
}
