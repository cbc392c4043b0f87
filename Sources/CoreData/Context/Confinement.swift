import CObjectRuntime
import Foundation
import Synchronization

/// Knows which contexts the calling thread may use now.
///
/// Each thread has a stack of the contexts whose blocks it runs. The stack is kept in the frames of those blocks, and a
/// thread-local pointer refers to its top. A block inside a block of another context may use both contexts.
enum Confinement {
    struct Frame {
        let context: UnsafeMutableRawPointer
        let previous: UnsafeMutableRawPointer?
    }

    /// `-com.apple.CoreData.ConcurrencyDebug 1`: a wrong use stops the program. Without it debug builds check and log.
    static let stopsProgram = CoreDataLog.concurrencyDebugLevel > 0

    /// Runs `body` with the context on top of the calling thread's stack.
    static func with<R, E: Error>(_ context: NSManagedObjectContext, _ body: () throws(E) -> R) throws(E) -> R {
        let previous = ocd_current_owner()
        var frame = Frame(context: Unmanaged.passUnretained(context).toOpaque(), previous: previous)
        return try withUnsafeMutablePointer(to: &frame) { frame throws(E) in
            ocd_set_current_owner(frame)
            defer { ocd_set_current_owner(previous) }
            return try body()
        }
    }

    static func isOwned(_ context: NSManagedObjectContext) -> Bool {
        let wanted = Unmanaged.passUnretained(context).toOpaque()
        var next = ocd_current_owner()
        while let frame = next?.assumingMemoryBound(to: Frame.self) {
            if frame.pointee.context == wanted { return true }
            next = frame.pointee.previous
        }
        return false
    }

    /// The context of the innermost block that the thread runs.
    static var current: NSManagedObjectContext? {
        guard let frame = ocd_current_owner()?.assumingMemoryBound(to: Frame.self) else { return nil }
        return Unmanaged<NSManagedObjectContext>.fromOpaque(frame.pointee.context).takeUnretainedValue()
    }

    /// Whether the thread is the main one, or runs a block of the main queue: off Apple's platforms an `async`
    /// main function hands that queue to another thread.
    static var isMain: Bool {
        Thread.isMainThread || DispatchQueue.getSpecific(key: mainKey) == true
    }

    private static let mainKey: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    // MARK: Wrong uses

    /// Reports a use off the context's queue: stops the program if it asked for that, else logs the use once per call
    /// site.
    ///
    /// Not inlined, so that the call site is a fixed number of frames away.
    @inline(never)
    static func report(_ what: String, context: NSManagedObjectContext) {
        if stopsProgram { fatalError(message(what, context)) }
        let place = ocd_call_place()
        guard places.withLock({ $0.count < mostPlaces && $0.insert(place).inserted }) else { return }
        CoreDataLog.general.error("\(message(what, context))")
    }

    /// Guards the call sites that were reported.
    private static let places = Mutex<Set<UInt64>>([])
    private static let mostPlaces = 1000

    private static func message(_ what: String, _ context: NSManagedObjectContext) -> String {
        let queue =
            context.concurrencyType == .mainQueueConcurrencyType
            ? "the main queue" : "the private queue of its context"
        let name = Thread.current.name.flatMap { $0.isEmpty ? nil : " '\($0)'" } ?? ""
        let thread = Thread.isMainThread ? "the main thread" : "another thread\(name)"
        return """
            CoreData: \(what) off \(queue) (context \(context.contextName)), on \(thread). \
            Wrap it in context.perform { … } or performAndWait { … }, and pass objectIDs between contexts.
            """
    }
}
