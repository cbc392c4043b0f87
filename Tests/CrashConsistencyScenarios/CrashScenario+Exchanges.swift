import CoreData
import CoreDataSync
import CoreDataToolkit
import Foundation
import Synchronization

// Scenarios of backups and of synchronisation.
extension CrashScenario {
    /// Waits for asynchronous work: programs of scenarios have no tasks.
    private static func waiting<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws -> R {
        let result = Mutex<Result<R, any Error>?>(nil)
        let end = DispatchSemaphore(value: 0)
        Task.detached {
            let value: Result<R, any Error>
            do { value = .success(try await body()) } catch { value = .failure(error) }
            result.withLock { $0 = value }
            end.signal()
        }
        end.wait()
        guard let value = result.withLock({ $0 }) else { throw Broken("no result") }
        return try value.get()
    }

    /// With a history, as stacks have.
    private static func shop(_ folder: URL) -> CrashShop {
        CrashShop(
            url: folder.appendingPathComponent("Shop.sqlite"),
            options: [NSPersistentHistoryTrackingKey: true as NSNumber])
    }

    private static func destination(_ folder: URL) -> FolderDestination {
        FolderDestination(folder.appendingPathComponent("Backups"))
    }

    private static func withStack<R>(_ folder: URL, _ body: (CoreDataStack) throws -> R) throws -> R {
        var options = CoreDataStack.Options()
        options.viewQueue = .private
        let stack = try CoreDataStack(model: CrashShop.model, storeURL: shop(folder).url, options: options)
        defer { for store in stack.coordinator.persistentStores { try? stack.coordinator.remove(store) } }
        return try body(stack)
    }

    private static func makeBackup(_ folder: URL, _ name: String) throws {
        try withStack(folder) { stack in
            let backup = Backup(stack, to: destination(folder))
            _ = try waiting { try await backup.create(name: name) }
        }
    }

    /// Two backups into a folder that does not exist before.
    static var backup: CrashScenario {
        CrashScenario("backup", isDurable: true, lastStep: 2, cost: 4) { folder in
            try shop(folder).fill(1...4)
        } run: { folder, log in
            for number in 1...2 {
                try log.attempt { try makeBackup(folder, "backup\(number).zip") }
                log.mark(number)
            }
        } lastStepLeft: { folder in
            guard try shop(folder).lastSave(tryingNext: false) == 4 else { throw Broken("the store has changed") }
            return try withStack(folder) { stack in
                let backup = Backup(stack, to: destination(folder))
                let names = try waiting { try await backup.list().map(\.name) }
                for name in names {
                    let findings = try waiting { try await backup.verify(name) }
                    if let finding = findings.first(where: { $0.severity == .error }) {
                        throw Broken("\(name): \(finding)")
                    }
                }
                return names.contains("backup2.zip") ? 2 : names.contains("backup1.zip") ? 1 : 0
            }
        }
    }

    /// Save 5 is replaced by a backup of save 3.
    static var restore: CrashScenario {
        CrashScenario("restore", isDurable: true, lastStep: 1, cost: 2) { folder in
            try shop(folder).fill(1...3)
            try makeBackup(folder, "backup.zip")
            try shop(folder).fill(4...5)
        } run: { folder, log in
            try log.attempt {
                try withStack(folder) { stack in
                    let backup = Backup(stack, to: destination(folder))
                    try waiting { try await backup.restore("backup.zip") }
                }
            }
            log.mark(1)
        } lastStepLeft: { folder in
            // What the next launch does first.
            try withStack(folder) { _ in }
            let number = try shop(folder).lastSave()
            guard [3, 5].contains(number) else { throw Broken("save \(number) is left") }
            return number == 3 ? 1 : 0
        }
    }

    // MARK: Synchronisation

    private static func device(_ folder: URL, _ name: String) -> CrashShop {
        CrashShop(
            url: folder.appendingPathComponent("\(name).sqlite"),
            options: [NSPersistentHistoryTrackingKey: true as NSNumber])
    }

    private static func exchange(_ session: CrashShop.Session, _ name: String, in folder: URL) throws {
        let place = FolderPlace(folder.appendingPathComponent("Place"))
        let sync = try Sync(session.coordinator, to: place, device: name)
        _ = try waiting { try await sync.syncNow() }
    }

    /// A device sends two exchanges to a folder. Another device then receives all that was sent, and both end equal.
    static var sync: CrashScenario {
        CrashScenario("sync", isDurable: true, lastStep: 2, cost: 12) { folder in
            try device(folder, "One").fill(1...3)
        } run: { folder, log in
            let session = try log.attempt { try CrashShop.Session(device(folder, "One")) }
            defer { session.close() }
            try log.attempt { try exchange(session, "One", in: folder) }
            log.mark(1)
            try log.attempt { try session.change(4) }
            try log.attempt { try session.save() }
            try log.attempt { try exchange(session, "One", in: folder) }
            log.mark(2)
        } lastStepLeft: { folder in
            let two = try CrashShop.Session(device(folder, "Two"))
            defer { two.close() }
            try exchange(two, "Two", in: folder)
            let received = try two.content()
            let one = try CrashShop.Session(device(folder, "One"))
            defer { one.close() }
            let own = try one.content()
            for _ in 0..<2 {
                try exchange(one, "One", in: folder)
                try exchange(two, "Two", in: folder)
            }
            let (left, right) = (try one.content(), try two.content())
            guard left == right else { throw Broken("the devices differ: \(left) and \(right)") }
            // Neither what was sent nor what the store had is lost.
            for before in [received, own] where !before.isEmpty && before != left && before.last != left.last {
                guard (before.last ?? "") < (left.last ?? "") else {
                    throw Broken("the devices lost changes: \(before) became \(left)")
                }
            }
            let findings = try NSPersistentStoreCoordinator.verifyPersistentStore(at: device(folder, "One").url)
                .findings
            if let finding = findings.first(where: { $0.severity == .error }) { throw Broken("\(finding)") }
            return received.last == "item 4" ? 2 : received.last == "item 3" ? 1 : 0
        }
    }
}

extension CrashScenario {
    /// A device receives in two exchanges what another one has sent. In the end, both are equal.
    static var receive: CrashScenario {
        CrashScenario("receive", isDurable: false, lastStep: 2, cost: 12) { folder in
            try device(folder, "One").fill(1...3)
            let one = try CrashShop.Session(device(folder, "One"))
            try exchange(one, "One", in: folder)
            one.close()
            try CrashShop.Session(device(folder, "Two")).close()
        } run: { folder, log in
            let two = try log.attempt { try CrashShop.Session(device(folder, "Two")) }
            defer { two.close() }
            try log.attempt { try exchange(two, "Two", in: folder) }
            log.mark(1)
            let one = try log.attempt { try CrashShop.Session(device(folder, "One")) }
            defer { one.close() }
            try log.attempt { try one.change(4) }
            try log.attempt { try one.save() }
            try log.attempt { try exchange(one, "One", in: folder) }
            try log.attempt { try exchange(two, "Two", in: folder) }
            log.mark(2)
        } lastStepLeft: { folder in
            let one = try CrashShop.Session(device(folder, "One"))
            defer { one.close() }
            let two = try CrashShop.Session(device(folder, "Two"))
            defer { two.close() }
            for _ in 0..<2 {
                try exchange(one, "One", in: folder)
                try exchange(two, "Two", in: folder)
            }
            let (left, right) = (try one.content(), try two.content())
            guard left == right else { throw Broken("the devices differ: \(left) and \(right)") }
            return left == ["item 2", "item 3", "item 4"] ? 2 : left == ["item 1", "item 2", "item 3"] ? 1 : 0
        }
    }
}

extension CrashShop.Session {
    /// The texts of all items, and the sizes of their pictures, in order.
    fileprivate func content() throws -> [String] {
        try context.performAndWait {
            context.reset()
            let items = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
            for item in items where (item.value(forKey: "number") as? Int ?? 0) % 2 == 1 {
                guard (item.value(forKey: "picture") as? Data)?.count == 101 << 10 else {
                    throw Broken("\(item.value(forKey: "text") ?? "") has no picture")
                }
            }
            return items.compactMap { $0.value(forKey: "text") as? String }.sorted()
        }
    }
}
