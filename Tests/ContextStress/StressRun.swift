import CoreData
import Foundation
import Synchronization

/// Eight contexts on four threads for some seconds.
///
/// ```
/// coordinator ─┬─ a, b                a merges by itself, b when it is told, all of them what the other process saved
///              ├─ c ─┬─ d             threads: a d │ b e │ c g │ f h
///              │     └─ e
///              └─ f ─── g ─── h
/// ```
final class StressRun: @unchecked Sendable {
    // Safe because what threads share is guarded.

    private let url: URL
    private let seconds: Double
    private let seed: UInt64
    private let name: String
    private let failures = Mutex<[String]>([])
    /// When each thread last ended something.
    private let heartbeats = Mutex<[Date]>([])
    /// A thread that does nothing for so long stands still.
    private static let patience = 90.0

    init(_ url: URL, seconds: Double, seed: UInt64, name: String) {
        self.url = url
        self.seconds = seconds
        self.seed = seed
        self.name = name
    }

    func run() throws -> StressReport {
        var (contexts, samples): ([WeakReference], [WeakReference]) = ([], [])
        let report = try autoreleasing {
            let stack = try StressStack(at: url)
            let editors = makeEditors(stack)
            contexts = editors.map { WeakReference($0.context) } + [WeakReference(stack.coordinator)]
            let merging = StressMerging(stack, editors.map(\.context))
            drive(editors)
            try merging.end()
            samples = editors.flatMap(\.samples)
            try failures.withLock { if !$0.isEmpty { throw StressFailure($0.joined(separator: "\n")) } }
            for editor in editors {
                if editor.isLeaf { editor.context.performAndWait { editor.context.refreshAllObjects() } }
                try editor.compare()
            }
            try stack.close()
            return editors.reduce(into: StressReport()) { $0.add($1.report) }
        }
        try checkNothingIsLeft(contexts, samples)
        return report
    }

    private func makeEditors(_ stack: StressStack) -> [StressEditor] {
        func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
            let context = NSManagedObjectContext(.privateQueue)
            context.parent = parent
            context.automaticallyMergesChangesFromParent = true
            return context
        }
        let (a, b, c, f) = (stack.newContext(), stack.newContext(), stack.newContext(), stack.newContext())
        for context in [a, c, f] { context.automaticallyMergesChangesFromParent = true }
        let (d, e, g) = (child(of: c), child(of: c), child(of: f))
        let h = child(of: g)
        return zip("abcdefgh", [a, b, c, d, e, f, g, h]).enumerated().map { index, pair in
            pair.1.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            return StressEditor(
                "\(name).\(pair.0)", pair.1, isLeaf: "abdeh".contains(pair.0), seed: seed &* 31 &+ UInt64(index))
        }
    }

    private func drive(_ editors: [StressEditor]) {
        let end = Date(timeIntervalSinceNow: seconds)
        let pairs = [[0, 3], [1, 4], [2, 6], [5, 7]].map { $0.map { editors[$0] } }
        let isDone = Atomic<Bool>(false)
        let watchdog = Thread { [self] in
            while !isDone.load(ordering: .relaxed) {
                // Looks now and then; what it looks for must not happen.
                Thread.sleep(forTimeInterval: 0.5)
                let oldest = heartbeats.withLock { $0.min() } ?? Date()
                guard Date().timeIntervalSince(oldest) > Self.patience else { continue }
                for editor in editors { Self.say("\(editor.name) \(editor.doing)") }
                Self.say("a thread has stood still for \(Self.patience) seconds")
                exit(3)
            }
        }
        heartbeats.withLock { $0 = pairs.map { _ in Date() } }
        watchdog.start()
        DispatchQueue.concurrentPerform(iterations: pairs.count) { thread in
            var generator = Generator(state: seed &+ UInt64(thread))
            while Date() < end, failures.withLock(\.isEmpty) {
                guard let editor = pairs[thread].randomElement(using: &generator) else { return }
                do { try editor.act() } catch { failures.withLock { $0.append("\(error)") } }
                heartbeats.withLock { $0[thread] = Date() }
            }
            heartbeats.withLock { $0[thread] = .distantFuture }
        }
        isDone.store(true, ordering: .relaxed)
    }

    private static func say(_ text: String) { FileHandle.standardError.write(Data("ContextStress: \(text)\n".utf8)) }

    // MARK: Afterwards

    private func checkNothingIsLeft(_ contexts: [WeakReference], _ samples: [WeakReference]) throws {
        // What was sent to a context's queue has to end first, and whoever watches the file has to hear that it is over.
        try wait("of the contexts and their coordinator are still there") {
            contexts.filter { $0.object != nil }.map { "\($0.object.map { "\($0)" } ?? "")" }
        }
        try wait("of \(samples.count) objects are still there") {
            samples.filter { $0.object != nil }.map { _ in "one" }
        }
        try wait("files are still open", openFiles)
    }

    private func wait(_ what: String, _ remaining: () throws -> [String]) throws {
        let end = Date(timeIntervalSinceNow: 20)
        while true {
            let left = try remaining()
            if left.isEmpty { return }
            guard Date() < end else {
                throw StressFailure("\(left.count) \(what): \(Set(left).sorted().joined(separator: ", "))")
            }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    /// What the process has open of the store, and what watches it.
    private func openFiles() throws -> [String] {
        let folder = "/proc/self/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { descriptor in
            try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(descriptor)")
        }.filter { $0.hasPrefix(url.path) || $0.contains("inotify") }
    }
}
