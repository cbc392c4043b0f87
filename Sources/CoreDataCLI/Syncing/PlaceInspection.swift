import CoreDataSync
import CoreDataSyncEngine
import Foundation

/// What the files of a place hold, each of them read and checked.
struct PlaceInspection: Encodable, Sendable {
    /// The files of one device.
    struct Device: Encodable, Sendable {
        var id: String
        /// `nil` where no hello can be read.
        var name: String?
        /// When its newest hello was written.
        var lastSeen: String?
        var segments = 0
        var snapshots = 0
        /// Large values, which are files of their own.
        var values = 0
        /// Outlines of models.
        var models = 0
        var bytes = 0
        /// The segments that no snapshot of any device contains, and how many bytes they have.
        var looseSegments = 0
        var looseBytes = 0
    }

    /// What is wrong.
    struct Problem: Encodable, Sendable {
        enum Kind: String, Encodable, Sendable {
            case torn, foreign, newerVersion, malformed, unreadable, missingSegments, missingValue, clock
        }

        var kind: Kind
        var device: String
        /// `nil` for what no file has.
        var file: String?
        var message: String
    }

    var devices: [Device] = []
    var problems: [Problem] = []

    /// The size of all files.
    var bytes: Int { devices.reduce(0) { $0 + $1.bytes } }

    /// Reads and checks every file.
    ///
    /// - Parameter now: milliseconds since 2001.
    init(of place: any SyncPlace, now: UInt64) async throws {
        var reader = PlaceReader(place: place, now: now)
        for device in try await place.list(nil).compactMap({ DeviceID(folder: $0) }).sorted() {
            try await reader.read(device)
        }
        reader.findGaps()
        (devices, problems) = (reader.devices, reader.problems)
    }

    /// Lines for people.
    func lines(_ place: String, width: Int?) -> [String] {
        var table = TextTable([
            .init(title: "device"), .init(title: "name"), .init(title: "segments", isRightAligned: true),
            .init(title: "snapshots", isRightAligned: true), .init(title: "values", isRightAligned: true),
            .init(title: "bytes", isRightAligned: true), .init(title: "in no snapshot"),
        ])
        table.rows = devices.map { device in
            [
                device.id, device.name ?? "?", Grouped.text(device.segments), Grouped.text(device.snapshots),
                Grouped.text(device.values), Grouped.text(device.bytes),
                device.looseSegments == 0
                    ? "" : "\(Grouped.text(device.looseSegments, "segment")), \(Grouped.text(device.looseBytes)) bytes",
            ]
        }
        var lines = devices.isEmpty ? [] : table.lines(width: width) + [""]
        for problem in problems {
            lines.append("\(problem.device)\(problem.file.map { "/\($0)" } ?? ""): \(problem.message)")
        }
        let found = "\(Grouped.text(devices.count, "device")), \(Grouped.text(bytes)) bytes"
        lines.append(
            problems.isEmpty ? "\(place) is sound: \(found)" : "\(place): \(Grouped.text(problems.count, "problem"))")
        return lines
    }
}

extension DeviceListing {
    /// The devices of a place, by their newest hellos.
    static func list(_ place: any SyncPlace, now: UInt64) async throws -> [Self] {
        var devices: [(id: DeviceID, files: DeviceFiles, hello: Hello?)] = []
        for id in try await place.list(nil).compactMap({ DeviceID(folder: $0) }).sorted() {
            let files = DeviceFiles(try await place.list(id.description))
            var hello: Hello?
            for number in files.hellos.reversed() where hello == nil {
                hello = try await PlaceReader.hello(number, of: id, in: place)
            }
            devices.append((id, files, hello))
        }
        return devices.map { device in
            let behind = devices.reduce(0) { count, other in
                other.id == device.id
                    ? count : count + other.files.segments.count { device.hello?.seen.contains(other.id, $0) != true }
            }
            return Self(
                id: device.id.description, name: device.hello?.name, isThisDevice: false,
                lastSeen: device.hello.map { HistoryPrinter.text(SyncTime.date($0.date)) },
                hasLease: device.hello?.hasLease(now: now) ?? true, hasLeft: device.hello?.left ?? false,
                behind: behind)
        }
    }
}
