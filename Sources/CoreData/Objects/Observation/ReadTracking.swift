import CObjectRuntime
import Observation
import Synchronization

/// Knows whether `withObservationTracking` tracks reads.
///
/// Costs two loads after the thread has found the list of tracked reads of Observation; see `TrackedReads.h`. If the
/// list cannot be found, as off Linux, a registrar is asked.
package enum ReadTracking {
    /// Whether reads are being tracked on the calling thread.
    @inline(__always)
    package static var isTracking: Bool {
        let known = ocd_reads_are_tracked()
        return known < 0 ? findOut() : known > 0
    }

    private static let probe = ObjectObservations()
    /// Whether the variable has been looked for.
    private static let isSearched = Atomic<Bool>(false)

    /// Asks the registrar, and tries to find the thread's variable on the way.
    @inline(never)
    private static func findOut() -> Bool {
        if ocd_find_tracking_word() { return ocd_reads_are_tracked() > 0 }
        if probe.isTellingOfReads { return true }
        // Nothing is tracked now, so that the variable is empty.
        if !isSearched.exchange(true, ordering: .relaxed) { search() }
        return false
    }

    private static func search() {
        // The type's description is in the module.
        let module = unsafeBitCast(ObservationRegistrar.self as Any.Type, to: UnsafeRawPointer.self)
        let before = words(of: module)
        var during: [UnsafeMutableRawPointer?] = []
        withObservationTracking {
            during = words(of: module)
        } onChange: {
        }
        let after = words(of: module)
        guard before.count == during.count, before.count == after.count else { return }
        let found = before.indices.filter { before[$0] == nil && during[$0] != nil && after[$0] == nil }
        if found.count == 1 { ocd_set_tracking_word(module, found[0]) }
    }

    /// The calling thread's variables of the module.
    private static func words(of module: UnsafeRawPointer) -> [UnsafeMutableRawPointer?] {
        [UnsafeMutableRawPointer?](unsafeUninitializedCapacity: 1024) { buffer, count in
            buffer.initialize(repeating: nil)
            count = buffer.baseAddress.map { ocd_copy_thread_words(module, $0, buffer.count) } ?? 0
        }
    }
}
