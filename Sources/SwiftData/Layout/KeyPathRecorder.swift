import Foundation

/// Notes which properties are asked of a model object that stands for none: how the names behind key paths are found.
///
///     \Sub.name     // no key path of Base's list; applied to an instance with a recorder, it asks for "name"
///
/// A backing that finds a recorder in what it adopts keeps it, and asks it for every value.
package final class KeyPathRecorder {
    /// What was asked for so far.
    package private(set) var names: [String] = []
    /// The class of the object that is asked next.
    private var layout: ModelLayout
    /// Which of the two samples of a property are given.
    let variant: Int
    /// What is given for a property, instead of a sample.
    let given: (name: String, value: Any)?
    /// Whether a property was asked for that no sample is known of.
    private(set) var isIncomplete = false

    init(_ layout: ModelLayout, variant: Int = 0, given: (name: String, value: Any)? = nil) {
        self.layout = layout
        self.variant = variant
        self.given = given
    }

    /// Notes a property by its name, and gives a value of its type.
    ///
    /// - Precondition: `canRead` says so.
    package func value<V>(named name: String, as type: V.Type = V.self) -> V {
        names.append(name)
        if let value = sample(of: name) as? V { return value }
        isIncomplete = true
        preconditionFailure("Property '\(name)' of \(layout.type) has no value to look for key paths with.")
    }

    private func sample(of name: String) -> Any? { nil }
}

/// The backing of a model object that stands for none: a `DefaultBackingData` that adopts it keeps the recorder.
package protocol RecordingBacking {
    var recorder: KeyPathRecorder { get }
}
