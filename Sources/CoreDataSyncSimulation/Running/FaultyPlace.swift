import CoreDataSync
import Foundation
import Synchronization

/// Another place as an unreliable one shows it: by a seed it lists late, hides files, repeats names, cuts and changes
/// what is read, fails before and after the work, and loses files.
///
/// Several devices share one place; each has a `FaultyPlace` of its own, so that each sees other faults. What happens
/// to a call depends on the seed, the file and the number of calls for that file: calls at the same time do not disturb
/// each other.
///
///     let place = FaultyPlace(memory, seed: 7, .rough)
///     place.hook = { operation in if operation.number == 12 { throw Killed() } }
package final class FaultyPlace: SyncPlace {
    /// How often each fault happens: once in the given number of calls on average; 0 for never.
    package struct Faults: Hashable, Sendable {
        /// A listing is an earlier one of the same folder.
        package var lateListings = 0
        /// A file is not shown for some calls after it was first met.
        package var hiddenFiles = 0
        /// A listing has a name twice, or in another order.
        package var repetitions = 0
        /// A file is met with its beginning only, for some calls: as in a folder that is being synchronised.
        package var tornFiles = 0
        /// One read gives too few bytes.
        package var truncations = 0
        /// One read gives a changed byte.
        package var corruptions = 0
        /// A call fails and does nothing.
        package var failures = 0
        /// A file is created or deleted, but the call fails.
        package var lostAnswers = 0
        /// A file that is created is lost for good.
        package var losses = 0

        package init(
            lateListings: Int = 0, hiddenFiles: Int = 0, repetitions: Int = 0, tornFiles: Int = 0,
            truncations: Int = 0, corruptions: Int = 0, failures: Int = 0, lostAnswers: Int = 0, losses: Int = 0
        ) {
            (self.lateListings, self.hiddenFiles, self.repetitions) = (lateListings, hiddenFiles, repetitions)
            (self.tornFiles, self.truncations, self.corruptions) = (tornFiles, truncations, corruptions)
            (self.failures, self.lostAnswers, self.losses) = (failures, lostAnswers, losses)
        }

        package static let none = Faults()
        package static let rough = Faults(
            lateListings: 4, hiddenFiles: 4, repetitions: 5, tornFiles: 5, truncations: 12, corruptions: 12,
            failures: 10, lostAnswers: 8)
    }

    /// One call of the place.
    package struct Operation: Sendable {
        package enum Kind: String, Sendable { case list, read, create, delete }
        package var kind: Kind
        /// The number of calls so far, this one included.
        package var number: Int
        package var folder: String?
        package var file: String?
        /// Decides what happens to this call.
        fileprivate var numbers: SimulationNumbers

        fileprivate func happens(_ oneIn: Int, _ fault: String) -> Bool {
            var numbers = numbers(for: fault)
            return numbers.chance(oneIn)
        }

        fileprivate func numbers(for purpose: String) -> SimulationNumbers {
            var numbers = numbers
            return SimulationNumbers(seed: numbers.next(), purpose)
        }
    }

    private struct File: Hashable { var folder: String, name: String }

    private struct State {
        let seed: UInt64
        var faults: Faults
        var count = 0
        /// The number of calls for each file and kind of call.
        var calls: [String: UInt64] = [:]
        var isReadOnly = false
        var isFull = false
        var hook: (@Sendable (Operation) throws -> Void)?
        var listings: [String?: [[String]]] = [:]
        /// The calls for which a file stays hidden or torn.
        var hidden: [File: Int] = [:]
        var torn: [File: Int] = [:]

        mutating func operation(_ kind: Operation.Kind, _ folder: String?, _ file: String?) -> Operation {
            count += 1
            let name = "\(kind.rawValue) \(folder ?? "")/\(file ?? "")"
            calls[name, default: 0] += 1
            return Operation(
                kind: kind, number: count, folder: folder, file: file,
                numbers: SimulationNumbers(seed: seed ^ (calls[name, default: 0] << 32), name))
        }

        /// How long a file that is met for the first time stays incomplete; counts one call.
        mutating func isIncomplete(_ file: File, _ oneIn: Int, _ calls: WritableKeyPath<Self, [File: Int]>) -> Bool {
            let left = self[keyPath: calls][file] ?? first(file, oneIn, calls == \.hidden ? "hidden" : "torn")
            self[keyPath: calls][file] = max(0, left - 1)
            return left > 0
        }

        private func first(_ file: File, _ oneIn: Int, _ fault: String) -> Int {
            var numbers = SimulationNumbers(seed: seed, fault, file.folder, file.name)
            return numbers.chance(oneIn) ? 1 + numbers.below(4) : 0
        }
    }

    package let base: any SyncPlace
    /// Guards the faults and what they have done.
    private let state: Mutex<State>

    package init(_ base: any SyncPlace, seed: UInt64, _ faults: Faults = .none) {
        self.base = base
        state = Mutex(State(seed: seed, faults: faults))
    }

    /// Called before each call; what it throws, the call throws: to kill a device there.
    package var hook: (@Sendable (Operation) throws -> Void)? {
        get { state.withLock { $0.hook } }
        set { state.withLock { $0.hook = newValue } }
    }

    package var faults: Faults {
        get { state.withLock { $0.faults } }
        set { state.withLock { $0.faults = newValue } }
    }

    package var isReadOnly: Bool {
        get { state.withLock { $0.isReadOnly } }
        set { state.withLock { $0.isReadOnly = newValue } }
    }

    package var isFull: Bool {
        get { state.withLock { $0.isFull } }
        set { state.withLock { $0.isFull = newValue } }
    }

    /// The number of calls so far.
    package var count: Int { state.withLock { $0.count } }

    /// Ends all faults: the place is as its base is.
    package func heal() {
        state.withLock { state in
            state.faults = .none
            (state.isReadOnly, state.isFull) = (false, false)
            (state.hidden, state.torn, state.listings) = ([:], [:], [:])
        }
    }

    package func list(_ folder: String?) async throws -> [String] {
        let operation = try begin(.list, folder, nil)
        let names = try await base.list(folder)
        return state.withLock { state in
            var shown = names
            if let folder {
                shown = names.filter {
                    !state.isIncomplete(File(folder: folder, name: $0), state.faults.hiddenFiles, \.hidden)
                }
            }
            state.listings[folder] = Array((state.listings[folder, default: []] + [shown]).suffix(4))
            if operation.happens(state.faults.lateListings, "late"), let earlier = state.listings[folder] {
                var numbers = operation.numbers(for: "earlier")
                shown = numbers.pick(earlier)
            }
            if operation.happens(state.faults.repetitions, "repeated"), !shown.isEmpty {
                var numbers = operation.numbers(for: "order")
                shown.append(numbers.pick(shown))
                shown.shuffle(using: &numbers)
            }
            return shown
        }
    }

    package func read(_ file: String, in folder: String) async throws -> Data? {
        let operation = try begin(.read, folder, file)
        guard let data = try await base.read(file, in: folder) else { return nil }
        return state.withLock { state in
            let key = File(folder: folder, name: file)
            if state.hidden[key] ?? 0 > 0, operation.happens(2, "unseen") { return nil }
            if state.isIncomplete(key, state.faults.tornFiles, \.torn) { return data.prefix(data.count / 2) }
            var numbers = operation.numbers(for: "byte")
            if operation.happens(state.faults.truncations, "truncated") {
                return data.prefix(numbers.below(max(1, data.count)))
            }
            guard operation.happens(state.faults.corruptions, "corrupted"), !data.isEmpty else { return data }
            var changed = [UInt8](data)
            changed[numbers.below(changed.count)] ^= 1 << UInt8(numbers.below(8))
            return Data(changed)
        }
    }

    package func create(_ file: String, in folder: String, _ data: Data) async throws -> Bool {
        let operation = try begin(.create, folder, file)
        let isLost = state.withLock { operation.happens($0.faults.losses, "lost") }
        let isCreated = try await isLost ? base.read(file, in: folder) == nil : base.create(file, in: folder, data)
        try end(operation)
        return isCreated
    }

    package func delete(_ file: String, in folder: String) async throws {
        let operation = try begin(.delete, folder, file)
        try await base.delete(file, in: folder)
        try end(operation)
    }

    package func changes() -> AsyncStream<Void> { base.changes() }

    private func begin(_ kind: Operation.Kind, _ folder: String?, _ file: String?) throws -> Operation {
        let (operation, hook) = state.withLock { ($0.operation(kind, folder, file), $0.hook) }
        try hook?(operation)
        try state.withLock { state in
            let isWriting = kind == .create || kind == .delete
            if isWriting, state.isReadOnly {
                throw SyncPlaceError(.readOnly, "The place can only be read.", path: file)
            }
            if kind == .create, state.isFull { throw SyncPlaceError(.full, "The place is full.", path: file) }
            if operation.happens(state.faults.failures, "failure") {
                throw SyncPlaceError(.unavailable, "The place does not answer.", path: file ?? folder)
            }
        }
        return operation
    }

    private func end(_ operation: Operation) throws {
        try state.withLock { state in
            if operation.happens(state.faults.lostAnswers, "answer") {
                throw SyncPlaceError(.unavailable, "The place's answer is lost.", path: operation.file)
            }
        }
    }
}
