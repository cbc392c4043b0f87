/// What a simulation has found to be wrong.
package struct SimulationFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is: a shorter script must fail in the same way.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// An exchange threw an error that is no error of the place.
        case error
        /// Devices exchanged on and on without an end.
        case unrest
        /// Objects or values wait, although everything has arrived.
        case waiting
        /// Devices are not equal.
        case difference
        /// A write is lost, a deletion had no effect, a value came back.
        case history
        /// A rule of the model does not hold.
        case rule
        /// More files are kept than needed.
        case size
    }

    package var kind: Kind
    package var details: [String]

    package init(_ kind: Kind, _ details: [String]) { (self.kind, self.details) = (kind, details) }

    package var description: String { "\(kind.rawValue): \(details.prefix(5).joined(separator: "\n    "))" }
}
