import CoreDataSyncEngine
import Foundation

/// Makes IDs of objects without a key from the transactions that inserted them.
///
/// A device may be restored to a state in which objects were saved and not captured, although it has sent them since.
/// It captures them again, with the same IDs. What two copies of a device insert has different IDs, since transactions
/// have times.
struct TransactionIDs {
    /// The times of transactions, by number.
    var times: [Int64: Date] = [:]
    private let seed: Identifier128
    /// The last transaction, with the ID of its key 0.
    private var last: (number: Int64, root: String, id: GlobalID)?

    /// The name under which settings keep the seed: it stays when the device gets another ID.
    private static let extra = "identities"

    /// Reads the seed of settings, or adds one to them.
    init(_ settings: inout SidecarSettings, new: () -> Identifier128) {
        if let data = settings.extras[Self.extra], let seed = try? Self.seed(data) {
            self.seed = seed
        } else {
            seed = new()
            var writer = ByteWriter()
            writer.identifier(seed)
            settings.extras[Self.extra] = writer.asData
        }
    }

    private static func seed(_ data: Data) throws(FileFault) -> Identifier128 {
        var reader = ByteReader(data)
        let seed = try reader.identifier()
        try reader.finish()
        return seed
    }

    /// The ID of an object; `nil` if the time of its transaction is not known.
    mutating func id(of key: Int64, root: String, transaction: Int64) -> GlobalID? {
        if let last, last.number == transaction, last.root == root { return KeyIdentity.member(key, of: last.id) }
        guard let time = times[transaction] else { return nil }
        let id = KeyIdentity.transaction(
            transaction, time: time.timeIntervalSinceReferenceDate.bitPattern,
            milliseconds: SyncTime.milliseconds(time),
            root: root, seed: seed)
        last = (transaction, root, id)
        return KeyIdentity.member(key, of: id)
    }
}

/// What a copy of a device has in common with the other copy: kept from its renewal until it has captured.
///
/// Either copy may have captured the same new objects. What the other one has sent of them counts, since it may have
/// edited or deleted them afterwards: the present copy gives its new objects the latest time that both knew.
struct CopiedPast: Codable {
    /// The ID that both had.
    private var identifier: UUID
    /// The ticks of the last stamp that both had.
    let clock: UInt64

    /// The name under which settings keep it.
    private static let extra = "past"

    var device: DeviceID { DeviceID(identifier) }

    /// - Parameter settings: those of before the renewal.
    init(before settings: SidecarSettings) { (identifier, clock) = (settings.device.uuid, settings.clock) }

    init?(_ settings: SidecarSettings) {
        guard let data = settings.extras[Self.extra], let past = try? JSONDecoder().decode(Self.self, from: data)
        else { return nil }
        self = past
    }

    func write(to settings: inout SidecarSettings) { settings.extras[Self.extra] = try? JSONEncoder().encode(self) }
    static func remove(from settings: inout SidecarSettings) { settings.extras[extra] = nil }
}
