import CObjectRuntime
import Observation

/// Who observes properties of a context's objects with `withObservationTracking`.
///
/// One registrar for all objects of the context: to an observer a property is a key path with the object and the slot in it.
/// Objects that nobody observes have nothing.
///
/// A read has to find out whether somebody tracks reads on its thread, see ``ReadTracking``. Where only the registrar knows, it is told of a
/// read of ``Mark``, and looks at it closer, for its hash, only where somebody does.
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

    /// Whether the registrar looks at what it is told of as it is expected to; else every read counts as tracked.
    private static let isTellingOfTracking: Bool = {
        let observations = ObjectObservations()
        return withObservationTracking {
            observations.readsMark()
        } onChange: {
        }
    }()

    /// Whether reads are being tracked on the calling thread, by asking the registrar: some 20 nanoseconds. See ``ReadTracking``.
    var isTellingOfReads: Bool { readsMark() || !Self.isTellingOfTracking }

    @inline(__always)
    private func readsMark() -> Bool {
        ocd_set_tracking_mark(false)
        registrar.access(self, keyPath: Self.mark)
        return ocd_tracking_mark()
    }

    /// Tells whoever tracks reads on the calling thread that the property was read.
    func noteRead(_ slot: Int, of object: ObjectIdentifier) {
        registrar.access(self, keyPath: \ObjectObservations.[Property(object: object, slot: slot)])
    }

    /// Tells the observers of the property, once each.
    func noteChange(_ slot: Int, of object: ObjectIdentifier) {
        registrar.withMutation(of: self, keyPath: \ObjectObservations.[Property(object: object, slot: slot)]) {}
    }
}
