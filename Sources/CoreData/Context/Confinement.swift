import CObjectRuntime
import Foundation

/// Which contexts the calling thread may use now.
///
/// Each thread has a stack of the contexts whose blocks it runs, kept in the frames of those blocks; the top is
/// in a thread-local pointer. A block inside a block of another context may use both.
enum Confinement {
    struct Frame {
        let context: UnsafeMutableRawPointer
        let previous: UnsafeMutableRawPointer?
    }

    /// `-com.apple.CoreData.ConcurrencyDebug 1`; debug builds always check.
    static let isCheckedInRelease = CoreDataLog.concurrencyDebugLevel > 0

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

    /// The context whose block the thread runs, the innermost one.
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

    static func stop(_ what: String, context: NSManagedObjectContext) -> Never {
        let queue =
            context.concurrencyType == .mainQueueConcurrencyType
            ? "the main queue" : "the queue of its context"
        fatalError(
            """
            CoreData: \(what) off \(queue) (context \(context.contextName)). \
            Wrap it in context.perform { … } or performAndWait { … }, and pass objectIDs between contexts.
            """)
    }
}
