import CoreDataSyncEngine
import Foundation

/// What a device knows of itself and of the store: one row of the sidecar.
package struct SidecarSettings: Hashable, Sendable {
    package var device: DeviceID
    package var deviceName: String
    /// The ticks of the last stamp that the device gave out or saw.
    package var clock: UInt64 = Stamp.firstEdit
    /// The number of the last captured transaction, by the store's UUID; `nil` before the first capture.
    package var token: [String: Int64]?
    /// The number of the last segment; segments count from 1.
    package var lastSegment: UInt64 = 0
    /// How values from before the store was attached compare; `nil` before the store is attached.
    package var seedAge: SeedAge?
    /// The UUID of the store that the sidecar belongs to; `nil` before the first capture.
    package var storeIdentifier: String?
    /// The segments of other devices that this one has received.
    package var seen = VersionVector()
    /// What apply means to write, from before its save until its stamps are written; its owner knows the form.
    package var appliedBegun: Data?
    /// The hash of the model of the last capture.
    package var modelHash: Data?
    /// Further values of the parts above, by name.
    package var extras: [String: Data] = [:]

    package init(device: DeviceID, deviceName: String) { (self.device, self.deviceName) = (device, deviceName) }
}

extension SidecarSettings {
    private struct Form: Codable {
        var device: UUID
        var deviceName: String
        var clock: UInt64
        var token: [String: Int64]?
        var lastSegment: UInt64
        var seedAge: UInt64?
        var storeIdentifier: String?
        var seen: Data
        var appliedBegun: Data?
        var modelHash: Data?
        var extras: [String: Data]
    }

    func content() throws -> Data {
        try JSONEncoder().encode(
            Form(
                device: device.uuid, deviceName: deviceName, clock: clock, token: token, lastSegment: lastSegment,
                seedAge: seedAge?.rawValue, storeIdentifier: storeIdentifier, seen: seen.bytes,
                appliedBegun: appliedBegun, modelHash: modelHash, extras: extras))
    }

    init(content: Data) throws {
        let form = try JSONDecoder().decode(Form.self, from: content)
        self.init(device: DeviceID(form.device), deviceName: form.deviceName)
        (clock, token, lastSegment) = (form.clock, form.token, form.lastSegment)
        seedAge = form.seedAge.flatMap { SeedAge(rawValue: $0) }
        storeIdentifier = form.storeIdentifier
        seen = try VersionVector(bytes: form.seen)
        (appliedBegun, modelHash, extras) = (form.appliedBegun, form.modelHash, form.extras)
    }
}
