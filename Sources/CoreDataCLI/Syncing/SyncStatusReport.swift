import CoreData
import CoreDataStoreTools
import CoreDataSync
import CoreDataSyncEngine
import Foundation

/// What a store's sidecar says of its synchronisation.
struct SyncStatusReport: Encodable, Sendable {
    /// How far the changes of the store were read.
    enum Capture: String, Encodable, Sendable {
        /// Everything was read.
        case current
        /// There are newer transactions.
        case behind
        /// A part of the history after the last transaction that was read is gone.
        case historyPurged
        /// The store has no history.
        case noHistory
        /// Nothing was read yet.
        case never
        /// The store was restored from a backup, or is another one than the sidecar's.
        case otherStore
        /// The store cannot be opened without its model.
        case unknown
    }

    struct Unsent: Encodable, Sendable {
        var files = 0
        var bytes = 0
    }

    var store: String
    var device: String
    var name: String
    var capture = Capture.unknown
    /// The number of the last transaction that was read.
    var capturedTransaction: Int64?
    /// How many transactions are newer.
    var newerTransactions: Int?
    var unsent = Unsent()
    /// How many objects wait, by reason.
    var waiting: [String: Int] = [:]
    var conflicts = 0
    /// This device and those that it knows.
    var devices: [DeviceListing]

    init(of store: String, _ sidecar: Sidecar, now: UInt64) throws {
        let settings = sidecar.settings
        self.store = store
        (device, name) = (settings.device.description, settings.deviceName)
        for file in try sidecar.outgoingNames() {
            guard let bytes = try sidecar.outgoing(file)?.bytes.count else { continue }
            unsent.files += 1
            unsent.bytes += bytes
        }
        for parked in try sidecar.parked() { waiting[parked.reason, default: 0] += 1 }
        conflicts = try sidecar.conflicts().count
        devices = try DeviceListing.list(sidecar, now: now)
        try readHistory(settings)
    }

    private mutating func readHistory(_ settings: SidecarSettings) throws {
        guard let token = settings.token, let identifier = settings.storeIdentifier else { return capture = .never }
        capturedTransaction = token[identifier]
        let report = try NSPersistentStoreCoordinator.report(onPersistentStoreAt: StoreFile.url(store))
        guard report.identifier == identifier else { return capture = .otherStore }
        guard report.hasHistory else { return capture = .noHistory }
        guard let position = capturedTransaction else { return capture = .historyPurged }
        guard let opened = try? OpenStore(historyOf: store) else { return }
        let end = opened.coordinator.currentPersistentHistoryToken(fromStores: nil)
        let last = end?.positions[identifier] ?? 0
        guard position <= last else { return capture = .otherStore }
        let request = NSPersistentHistoryChangeRequest.fetchHistory(
            after: NSPersistentHistoryToken([identifier: position]))
        request.resultType = .transactionsOnly
        let context = opened.makeContext()
        do {
            newerTransactions = try context.performAndWait {
                let result = try context.execute(request) as? NSPersistentHistoryResult
                return (result?.result as? [NSPersistentHistoryTransaction])?.count ?? 0
            }
        } catch let error as CocoaError where error.code.rawValue == NSPersistentHistoryTokenExpiredError {
            return capture = .historyPurged
        }
        capture = newerTransactions == 0 ? .current : .behind
    }

    // MARK: Text

    /// Lines for people.
    func lines(width: Int?) -> [String] {
        var facts = TextTable([.init(title: ""), .init(title: "")])
        facts.rows = [
            ["Store", store],
            ["Device", "\(name) (\(device))"],
            ["Captured", captureText],
            [
                "To send",
                unsent.files == 0
                    ? "nothing" : "\(Grouped.text(unsent.files, "file")), \(Grouped.text(unsent.bytes)) bytes",
            ],
            ["Waiting", waitingText],
            ["Conflicts", conflicts == 0 ? "none" : Grouped.text(conflicts)],
            [
                "Devices",
                devices.count == 1 ? "no other one" : Grouped.text(devices.count - 1, "other one", many: "others"),
            ],
        ]
        let lines = facts.lines(hasHeader: false)
        return devices.count == 1 ? lines : lines + [""] + DeviceListing.lines(devices, width: width)
    }

    private var captureText: String {
        let position = capturedTransaction.map { "up to transaction \($0)" } ?? "yes"
        return switch capture {
        case .current: position
        case .behind: "\(position); \(Grouped.text(newerTransactions ?? 0, "newer one")) to read"
        case .historyPurged: "\(position); the history after it was purged, so the next exchange compares the store"
        case .noHistory: "the store has no history: each exchange compares the whole store"
        case .never: "nothing yet"
        case .otherStore: "\(position); the store was restored or exchanged since"
        case .unknown: "\(position); whether there are newer ones cannot be told"
        }
    }

    private var waitingText: String {
        guard !waiting.isEmpty else { return "nothing" }
        return waiting.sorted { $0.key < $1.key }.map { "\(Grouped.text($0.value)) (\($0.key))" }
            .joined(separator: ", ")
    }
}
