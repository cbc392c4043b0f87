import CoreDataDigests
import CoreDataSyncEngine
import Foundation

/// Large values and models, which are read when they are needed.
extension Exchange {
    /// Reads a large value from any device that has it.
    ///
    /// - Parameters:
    ///   - digest: the SHA-256 of the value.
    ///   - owner: the device whose segment names the value; it is asked first.
    /// - Returns: `nil` if no device shows the value intact at present.
    /// - Throws: the place's error if it failed for one device, and no other one has the value.
    package func blob(_ digest: Data, of owner: DeviceID? = nil) async throws -> Data? {
        try await first(.blob(digest), owner) { data in
            guard Digests.sha256(data) == digest else {
                throw FileFault(.torn, "its bytes do not match the checksum in its name")
            }
            return data
        }
    }

    /// Reads the outline of a model from any device that has it.
    package func model(_ hash: Data, of owner: DeviceID? = nil) async throws -> ModelOutline? {
        try await first(.model(hash), owner) { data in
            let outline = try ModelOutline(bytes: data)
            guard outline.hash == hash else { throw FileFault(.foreign, "it is the outline of another model") }
            return outline
        }
    }

    private func first<Value>(
        _ file: FileName, _ owner: DeviceID?, _ make: (Data) throws -> Value
    ) async throws -> Value? {
        let now = now()
        let owner = owner ?? device
        var devices = [owner]
        devices += listing.filter { $0.key != owner && $0.value.contains(file) }.keys.sorted()
        if owner != device { devices.append(device) }
        var failure: (any Error)?
        for key in devices.map({ FileKey($0, file) }) where schedule.isDue(key, now: now) {
            try Task.checkCancellation()
            switch try await read(key) {
            case .data(let data): if let value = decode(key, data, make) { return value }
            case .absent: schedule.noteFailure(key, nil, now: now)
            case .fault(let fault): schedule.noteFailure(key, fault, now: now)
            case .failure(let error):
                schedule.noteFailure(
                    key, FileFault(.torn, error.localizedDescription, file: file.description), now: now)
                failure = error
            }
        }
        if let failure { throw failure }
        return nil
    }
}
