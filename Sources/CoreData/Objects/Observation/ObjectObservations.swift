import CObjectRuntime
import Observation

/// The observers of a context's objects that use `withObservationTracking`.
///
/// All objects of the context share one registrar: for an observer, a property is a key path that contains the object
/// and the slot. Objects without observers store nothing.
///
/// A read must find out whether its thread tracks reads, see ``ReadTracking``. If only the registrar knows, it receives
/// a read of ``Mark``, and computes the hash of that only if reads are tracked.
final class ObjectObservations: Observable, Sendable {
    private struct Property: Hashable {
        let object: ObjectIdentifier
        let slot: Int
    }

    private struct Mark: Hashable {
        static func == (a: Mark, b: Mark) -> Bool { true }
        func hash(into hasher: inout Hasher) { ocd_set_tracking_mark(true) }
    }

    private let registrar = ObservationRegistrar()
    private static let mark: any KeyPath<ObjectObservations, Void> & Sendable = \ObjectObservations.[Mark()]

    // Only their key paths are of use.
    private subscript(mark: Mark) -> Void { () }
    private subscript(property: Property) -> Void { () }

    /// Whether the registrar evaluates its arguments as expected; if not, every read counts as tracked.
    private static let isTellingOfTracking: Bool = {
        let observations = ObjectObservations()
        return withObservationTracking {
            observations.readsMark()
        } onChange: {
        }
    }()

    /// Whether reads are being tracked on the calling thread, by asking the registrar: some 20 nanoseconds. See
    /// ``ReadTracking``.
    var isTellingOfReads: Bool { readsMark() || !Self.isTellingOfTracking }

    @inline(__always)
    private func readsMark() -> Bool {
        ocd_set_tracking_mark(false)
        registrar.access(self, keyPath: Self.mark)
        return ocd_tracking_mark()
    }

    /// Tells the code that tracks reads on the calling thread that the property was read.
    func noteRead(_ slot: Int, of object: ObjectIdentifier) {
        registrar.access(self, keyPath: \ObjectObservations.[Property(object: object, slot: slot)])
    }

    /// Notifies the observers of the property, once each.
    func noteChange(_ slot: Int, of object: ObjectIdentifier) {
        registrar.withMutation(of: self, keyPath: \ObjectObservations.[Property(object: object, slot: slot)]) {}
    }
}
