import CoreDataSync
import CoreDataSyncEngine
import Foundation

/// A device that synchronises, for people and programs.
struct DeviceListing: Encodable, Hashable, Sendable {
    var id: String
    /// `nil` for a device that has not said its name yet.
    var name: String?
    /// Whether it is the device of the store that the command names.
    var isThisDevice: Bool
    /// When it last said what it has; `nil` for this device, and for one that has not said it yet.
    var lastSeen: String?
    /// Whether other devices keep files for it: it has not left, and its lease has not expired.
    var hasLease: Bool
    var hasLeft: Bool
    /// How many files it has not received: of this device, or of all devices in a place.
    var behind: Int

    /// The device of a sidecar and the others that it knows.
    static func list(_ sidecar: Sidecar, now: UInt64) throws -> [Self] {
        let settings = sidecar.settings
        let own = Self(
            id: settings.device.description, name: settings.deviceName, isThisDevice: true, lastSeen: nil,
            hasLease: true, hasLeft: false, behind: 0)
        return try [own]
            + sidecar.peers().map { peer in
                let received = peer.received.contiguous(settings.device)
                return Self(
                    id: peer.device.description, name: peer.name, isThisDevice: false,
                    lastSeen: HistoryPrinter.text(SyncTime.date(peer.seen)),
                    hasLease: !peer.hasLeft && peer.leaseEnd.map { now <= $0 } ?? true, hasLeft: peer.hasLeft,
                    behind: Int(clamping: settings.lastSegment - min(settings.lastSegment, received)))
            }
    }

    /// A table of devices.
    static func lines(_ devices: [Self], width: Int?) -> [String] {
        var table = TextTable([
            .init(title: "device"), .init(title: "name"), .init(title: "last seen"),
            .init(title: "behind", isRightAligned: true), .init(title: ""),
        ])
        table.rows = devices.map {
            [$0.id, $0.name ?? "?", $0.lastSeen ?? "", $0.isThisDevice ? "" : Grouped.text($0.behind), $0.remark]
        }
        return table.lines(width: width)
    }

    private var remark: String {
        if isThisDevice { return "this device" }
        if hasLeft { return "left" }
        if lastSeen == nil { return "no hello yet" }
        return hasLease ? "" : "lease expired"
    }
}
