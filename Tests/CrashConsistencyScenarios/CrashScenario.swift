import CoreData
import Foundation
import MigrationScenarios

/// What a scenario announces while it runs.
package struct CrashLog {
    /// Step *n* has returned: from now on, its result must survive.
    package var mark: (Int) -> Void
    /// A step has failed; it is tried once more.
    package var failed: (any Error) -> Void

    package init(mark: @escaping (Int) -> Void, failed: @escaping (any Error) -> Void) {
        (self.mark, self.failed) = (mark, failed)
    }

    /// Runs a step, a second time if it fails: one failed system call must not prevent the next attempt.
    func attempt<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch {
            failed(error)
            return try body()
        }
    }
}

/// Something that a program does to files, and what a crash may leave of it.
package struct CrashScenario: Sendable, CustomStringConvertible {
    package let description: String
    /// Whether a step that has returned survives a power failure. Otherwise an earlier complete step may be left.
    package var isDurable: Bool
    /// The number of the step whose result is there before, and of the last step.
    package var firstStep = 0
    package let lastStep: Int
    /// How many times longer than for a store alone it takes to check what is left.
    package var cost = 1
    /// Makes the files that exist before.
    package let prepare: @Sendable (URL) throws -> Void
    package let run: @Sendable (URL, CrashLog) throws -> Void
    /// Returns the number of the last step whose result is in the folder, which must be whole.
    fileprivate let lastStepLeft: @Sendable (URL) throws -> Int

    init(
        _ name: String, isDurable: Bool, firstStep: Int = 0, lastStep: Int, cost: Int = 1,
        prepare: @escaping @Sendable (URL) throws -> Void,
        run: @escaping @Sendable (URL, CrashLog) throws -> Void, lastStepLeft: @escaping @Sendable (URL) throws -> Int
    ) {
        (description, self.isDurable, self.firstStep, self.lastStep) = (name, isDurable, firstStep, lastStep)
        self.cost = cost
        (self.prepare, self.run, self.lastStepLeft) = (prepare, run, lastStepLeft)
    }

    /// Checks what is left in a folder.
    ///
    /// - Parameters:
    ///   - acknowledged: the number of the last step that had returned.
    ///   - isPowerFailure: whether the kernel's memory was lost too.
    /// - Throws: ``Broken`` for a promise that was not kept.
    package func check(_ folder: URL, acknowledged: Int, isPowerFailure: Bool) throws {
        let left = try lastStepLeft(folder)
        guard left >= (isPowerFailure && !isDurable ? firstStep : acknowledged) else {
            throw Broken("step \(acknowledged) had returned, and only step \(left) is left")
        }
    }

    /// The scenario with that name.
    package static func named(_ name: String) -> CrashScenario? { all.first { $0.description == name } }

    package static let all: [CrashScenario] =
        saves + [severalStores, historyPurge, backup, restore, sync, receive]
        + MigrationScenario.allCases.map(migration)
}

// MARK: - Saves

extension CrashScenario {
    private static func pragmas(_ pragmas: [String: String]) -> [AnyHashable: Any] { [NSSQLitePragmasOption: pragmas] }

    /// Saves of a store with external files.
    private static var saves: [CrashScenario] {
        [
            saves("savesInLog", isDurable: false) { CrashShop(url: $0.appendingPathComponent("Shop.sqlite")) },
            saves("savesInSynchronisedLog", isDurable: true) {
                CrashShop(
                    url: $0.appendingPathComponent("Shop.sqlite"), options: pragmas(["synchronous": "FULL"]))
            },
            saves("savesWithJournal", isDurable: true) {
                CrashShop(
                    url: $0.appendingPathComponent("Shop.sqlite"), options: pragmas(["journal_mode": "DELETE"]))
            },
            saves("savesInXML", isDurable: true) {
                CrashShop(url: $0.appendingPathComponent("Shop.xml"), type: .xml, hasPictures: false)
            },
            saves("savesInBinary", isDurable: true) {
                CrashShop(url: $0.appendingPathComponent("Shop.binary"), type: .binary, hasPictures: false)
            },
        ]
    }

    private static func saves(
        _ name: String, isDurable: Bool, _ shop: @escaping @Sendable (URL) -> CrashShop
    ) -> CrashScenario {
        CrashScenario(name, isDurable: isDurable, firstStep: 3, lastStep: 7) {
            try shop($0).fill(1...3)
        } run: { folder, log in
            let session = try log.attempt { try CrashShop.Session(shop(folder)) }
            defer { session.close() }
            for number in 4...7 {
                try log.attempt { try session.change(number) }
                try log.attempt { try session.save() }
                log.mark(number)
            }
        } lastStepLeft: {
            try shop($0).lastSave()
        }
    }

    /// Saves that write two stores. A power failure between the two commits may leave one of them.
    private static var severalStores: CrashScenario {
        @Sendable func shops(_ folder: URL) -> (CrashShop, CrashShop) {
            let options = pragmas(["synchronous": "FULL"])
            return (
                CrashShop(url: folder.appendingPathComponent("One.sqlite"), options: options),
                CrashShop(url: folder.appendingPathComponent("Two.sqlite"), options: options, hasPictures: false)
            )
        }
        return CrashScenario("severalStores", isDurable: true, firstStep: 2, lastStep: 5) { folder in
            try shops(folder).0.fill(1...2)
            try shops(folder).1.fill(1...2)
        } run: { folder, log in
            let shops = shops(folder)
            let session = try log.attempt { try CrashShop.Session(shops.0, shops.1) }
            defer { session.close() }
            for number in 3...5 {
                try log.attempt { try session.change(number) }
                try log.attempt { try session.save() }
                log.mark(number)
            }
        } lastStepLeft: { folder in
            let (one, two) = (try shops(folder).0.lastSave(), try shops(folder).1.lastSave())
            guard abs(one - two) <= 1 else { throw Broken("the stores are \(abs(one - two)) saves apart") }
            return min(one, two)
        }
    }

    /// Saves with a history, which is purged after each.
    private static var historyPurge: CrashScenario {
        @Sendable func shop(_ folder: URL) -> CrashShop {
            CrashShop(
                url: folder.appendingPathComponent("Shop.sqlite"),
                options: [NSPersistentHistoryTrackingKey: true as NSNumber])
        }
        return CrashScenario("historyPurge", isDurable: false, firstStep: 3, lastStep: 6) {
            try shop($0).fill(1...3)
        } run: { folder, log in
            let session = try log.attempt { try CrashShop.Session(shop(folder)) }
            defer { session.close() }
            for number in 4...6 {
                try log.attempt { try session.change(number) }
                try log.attempt { try session.save() }
                log.mark(number)
                try log.attempt {
                    let token = session.coordinator.currentPersistentHistoryToken(fromStores: nil)
                    try session.context.performAndWait {
                        _ = try session.context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: token))
                    }
                }
            }
        } lastStepLeft: { folder in
            let number = try shop(folder).lastSave()
            let session = try CrashShop.Session(shop(folder))
            defer { session.close() }
            let all = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try session.context.performAndWait {
                try session.context.execute(all) as? NSPersistentHistoryResult
            }
            // The save that the check has made.
            guard let transactions = result?.result as? [NSPersistentHistoryTransaction],
                transactions.last?.changes?.isEmpty == false
            else { throw Broken("the history lacks the last save") }
            return number
        }
    }
}

// MARK: - Whole stores

extension CrashScenario {
    /// Migrations, replacements, moves and removals; see `MigrationScenario`.
    private static func migration(_ scenario: MigrationScenario) -> CrashScenario {
        let commitsToLog: [MigrationScenario] = [.lightweight, .deferred, .finishing, .staged, .save]
        return CrashScenario(
            scenario.rawValue, isDurable: !commitsToLog.contains(scenario), lastStep: 1,
            cost: scenario == .manager ? 12 : 3
        ) { folder in
            try scenario.prepare(folder)
        } run: { folder, log in
            try log.attempt { try scenario.run(folder) }
            log.mark(1)
        } lastStepLeft: { folder in
            let (old, new, between) = scenario.states
            let state = try scenario.state(folder)
            guard ([old, new] + between).contains(state) else { throw Broken("'\(state)' is left") }
            // Doing it again completes it.
            try scenario.run(folder)
            let end = try scenario.state(folder)
            guard end == new else { throw Broken("'\(state)' is left, and repeating makes '\(end)'") }
            return state == new ? 1 : 0
        }
    }
}
