import Foundation

/// What a device tells the others of itself, as a file.
package struct Hello: Hashable, Sendable {
    package var device: DeviceID
    /// The name that people gave the device.
    package var name: String
    /// Counts the hellos of the device, from 1; the greatest one is valid.
    package var number: UInt64
    package var modelHash: Data
    /// The segments of all devices that this device has applied, its own included.
    package var seen: VersionVector
    /// When the device wrote the file, by its clock: milliseconds since 2001-01-01 UTC.
    package var date: UInt64
    package var storeName: String
    /// How long after `date` the other devices keep segments for this one.
    package var leaseMilliseconds: UInt64
    /// Whether the device said goodbye: it needs no more segments.
    package var left: Bool

    /// 60 days.
    package static let usualLease: UInt64 = 60 * 86_400_000

    package init(
        device: DeviceID, name: String, number: UInt64, modelHash: Data, seen: VersionVector, date: UInt64,
        storeName: String, leaseMilliseconds: UInt64 = Hello.usualLease, left: Bool = false
    ) {
        (self.device, self.name, self.number, self.modelHash) = (device, name, number, modelHash)
        (self.seen, self.date, self.storeName) = (seen, date, storeName)
        (self.leaseMilliseconds, self.left) = (leaseMilliseconds, left)
    }

    /// Whether the device may still ask for segments.
    package func hasLease(now: UInt64) -> Bool {
        guard !left else { return false }
        let (end, isBeyond) = date.addingReportingOverflow(leaseMilliseconds)
        return isBeyond || now <= end
    }

    package var bytes: Data {
        var head = ByteWriter()
        head.identifier(device)
        head.varint(number)
        head.data(modelHash)
        var vector = ByteWriter()
        seen.write(to: &vector)
        var about = ByteWriter()
        about.string(name)
        about.string(storeName)
        about.varint(date)
        about.varint(leaseMilliseconds)
        about.byte(left ? 1 : 0)
        var payload = ByteWriter()
        payload.field(1, head)
        payload.field(2, vector)
        payload.field(3, about)
        return Frame.seal(.hello, payload.bytes)
    }

    package init(bytes: Data) throws(FileFault) {
        let fields = try Fields(Frame.open(.hello, bytes))
        var head = try fields.required(1)
        device = try head.identifier()
        number = try head.varint()
        modelHash = try head.data()
        guard number > 0, number <= FileName.greatestNumber else { throw head.fault("a file has number \(number)") }
        try head.finish()
        var vector = try fields.required(2)
        seen = try VersionVector(from: &vector)
        try vector.finish()
        var about = try fields.required(3)
        name = try about.string()
        storeName = try about.string()
        date = try about.varint()
        leaseMilliseconds = try about.varint()
        left = try about.number(below: 2, "whether the device left") == 1
        try about.finish()
    }
}
