import CoreDataSyncEngine
import Foundation

/// Sends the files of one device to a place, and receives those of the others.
///
/// It knows files and numbers, but no stores: the caller keeps what was received, and says so with each call. Nothing
/// that it keeps itself must survive the process: what it read of files that do not change, and when a damaged file is
/// read again.
///
///     let exchange = Exchange(place: place, device: device) { clock.milliseconds }
///     let sending = try await exchange.send(outbox)
///     let received = try await exchange.receive(known: known, lastSegment: 12)
///
/// Calls follow one another; two at the same time are safe, but may read files twice.
package actor Exchange {
    package let place: any SyncPlace
    package let device: DeviceID
    package let limits: Limits
    /// Milliseconds since 2001-01-01 UTC.
    let now: @Sendable () -> UInt64

    /// When a file could not be read, and is read again.
    var schedule = RetrySchedule()
    /// The files of the other devices as they were last listed.
    var listing: [DeviceID: DeviceFiles] = [:]
    /// The newest hello of each other device that could be read.
    var hellos: [DeviceID: Hello] = [:]
    /// The segments that ``hellos`` name.
    var named = VersionVector()
    /// Which segments the snapshots contain that were read.
    var snapshotContents: [FileKey: VersionVector] = [:]
    /// Since when segments of a device are neither known nor readable.
    var missingSince: [DeviceID: UInt64] = [:]
    /// Files that wait for the time of their stamps: milliseconds since 2001-01-01 UTC.
    var future: [FileKey: UInt64] = [:]
    /// The number of the last hello that this value wrote.
    var lastHello: UInt64 = 0

    /// Bounds on the work of one call.
    package struct Limits: Sendable {
        /// The bytes after which a portion ends. A single file may be larger.
        package var portionBytes = 16 << 20
        /// The number of files that are read at the same time.
        package var parallelReads = 4
        /// How long segments may be missing before snapshots are read for them: a place may list files late.
        package var patience: UInt64 = 60_000
        /// How long an own file may be damaged in the place before it is written again.
        package var repairDelay: UInt64 = 3_600_000
        /// The number of failures of the place, one after the other, after which a portion ends.
        package var failuresInRow = 3

        package init() {}
    }

    package init(
        place: any SyncPlace, device: DeviceID, limits: Limits = Limits(), now: @escaping @Sendable () -> UInt64
    ) {
        (self.place, self.device, self.limits, self.now) = (place, device, limits, now)
    }

    /// The name of this device's folder.
    var folder: String { device.description }

    /// The files that a listing shows in this device's folder.
    package func ownFiles() async throws -> DeviceFiles { DeviceFiles(try await place.list(folder)) }

    // MARK: - Reading one file

    /// What reading a file has led to.
    enum Reading {
        case data(Data)
        /// It does not exist.
        case absent
        /// Its bytes are not what the device wrote.
        case fault(FileFault)
        /// The place failed.
        case failure(any Error)
    }

    /// Reads the bytes of a file, and tells damaged files from a place that fails.
    ///
    /// - Throws: if the task was cancelled, or no file can be read for want of the passphrase.
    nonisolated func read(_ key: FileKey) async throws -> Reading {
        do {
            guard let data = try await place.read(key.file.description, in: key.device.description) else {
                return .absent
            }
            return .data(data)
        } catch let error as SyncPlaceError {
            let name = key.file.description
            switch error.reason {
            case .damaged: return .fault(FileFault(.torn, error.message, file: name))
            case .altered: return .fault(FileFault(.foreign, error.message, file: name))
            case .tooLarge: return .fault(FileFault(.malformed, error.message, file: name))
            case .wrongPassphrase: throw error
            default: return .failure(error)
            }
        } catch let error as CancellationError {
            throw error
        } catch {
            return .failure(error)
        }
    }

    /// Makes a value of a file's bytes; notes a fault, so that the file is read again later.
    func decode<Value>(_ key: FileKey, _ data: Data, _ make: (Data) throws -> Value) -> Value? {
        do {
            let value = try make(data)
            schedule.noteSuccess(key)
            return value
        } catch {
            var fault = error as? FileFault ?? FileFault(.malformed, "\(error)")
            fault.file = key.file.description
            schedule.noteFailure(key, fault, now: now())
            return nil
        }
    }
}

/// A fault for a file whose bytes name another device or number than its own name.
func checkOwner(_ key: FileKey, _ device: DeviceID, _ number: UInt64, _ named: UInt64) throws(FileFault) {
    guard device == key.device, number == named else {
        throw FileFault(.foreign, "it is a copy of file \(number) of device \(device)")
    }
}

extension Segment {
    /// - Parameter reader: the device that reads the file: only what its writer knew of that device is kept.
    init(_ data: Data, _ key: FileKey, _ number: UInt64, for reader: DeviceID) throws(FileFault) {
        try self.init(bytes: data, for: reader)
        try checkOwner(key, device, self.number, number)
    }
}

extension Snapshot {
    init(_ data: Data, _ key: FileKey, _ number: UInt64) throws(FileFault) {
        try self.init(bytes: data)
        try checkOwner(key, device, self.number, number)
    }
}

extension Hello {
    init(_ data: Data, _ key: FileKey, _ number: UInt64) throws(FileFault) {
        try self.init(bytes: data)
        try checkOwner(key, device, self.number, number)
    }
}
