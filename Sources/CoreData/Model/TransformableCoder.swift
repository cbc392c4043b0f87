import CoreDataPrimitives
import Foundation

/// Turns the values of one transformable attribute into stored data and back.
///
///     let coder = try TransformableCoder(attribute)
///     let data = try coder.data(of: color)
///     let color = try coder.value(in: data)
///
/// A transformer of the application's own makes data of values. One that unarchives does the opposite, and is used
/// in reverse. Without a transformer values are archived.
package struct TransformableCoder: @unchecked Sendable {
    // Safe because any thread may call a registered transformer, as Apple's documentation requires.
    private let transformer: ValueTransformer?
    private let attributeName: String

    /// - Throws: a ``Failure`` if no transformer of the attribute's transformer name is registered.
    package init(_ attribute: NSAttributeDescription) throws {
        attributeName = attribute.qualifiedName
        guard let name = attribute.valueTransformerName, !name.isEmpty else {
            transformer = nil
            return
        }
        guard let registered = ValueTransformer.registered(forName: name) else {
            throw Failure(
                """
                No value transformer is registered under '\(name)', which attribute \(attributeName) needs. \
                Call ValueTransformer.setValueTransformer(_:forName:) before the store is loaded.
                """)
        }
        transformer = registered
    }

    /// The data to store for a value that is not nil.
    package func data(of value: Any) throws -> Data {
        let data: Any? =
            switch transformer {
            case nil: SecureArchive.data(of: value, requiringSecureCoding: false)
            case let unarchiving as NSSecureUnarchiveFromDataTransformer: unarchiving.reverseTransformedValue(value)
            case let transformer?: transformer.transformedValue(value)
            }
        guard let data = data as? Data else {
            throw Failure(
                "A value of attribute \(attributeName), a \(type(of: value)), cannot be made data by \(transformerText)."
            )
        }
        return data
    }

    /// Returns the value of stored data; `nil` if the transformer returns nil.
    package func value(in data: Data) throws -> Any? {
        switch transformer {
        case nil:
            guard let value = SecureArchive.object(from: data) else { throw unreadable(data) }
            return value
        case let unarchiving as NSSecureUnarchiveFromDataTransformer:
            guard let value = unarchiving.transformedValue(data) else { throw unreadable(data) }
            return value
        case let transformer?: return transformer.reverseTransformedValue(data)
        }
    }

    private func unreadable(_ data: Data) -> Failure {
        Failure("\(data.count) bytes of attribute \(attributeName) cannot be made a value by \(transformerText).")
    }

    private var transformerText: String { transformer.map { "\(type(of: $0))" } ?? "unarchiving" }

    /// A value that has no data, or data that has no value.
    package struct Failure: EngineFailure, CustomStringConvertible {
        package var description: String

        init(_ description: String) { self.description = description }
    }
}
