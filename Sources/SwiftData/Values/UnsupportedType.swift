import Foundation

/// A type that no attribute can have.
struct UnsupportedType: Error {
    /// The members that lead to it, from the property on; empty for the property's own type.
    var path: [String]
    let type: Any.Type
    let reason: String

    init(_ type: Any.Type, _ reason: String) {
        path = []
        self.type = type
        self.reason = reason
    }

    func inside(_ member: String) -> UnsupportedType {
        var result = self
        result.path.insert(member, at: 0)
        return result
    }

    /// The sentence about a property, which the message begins with.
    func message(of property: String) -> String {
        let name = ([property] + path).joined(separator: ".")
        return "\(name) is of type \(type), which cannot be stored: \(reason)"
    }
}

/// A stored value that is no value of the property's type, or a value that cannot be stored.
struct ValueMismatch: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// For a stored value of another type, or none.
    init(stored: Any?, as type: Any.Type) {
        description =
            stored == nil
            ? "There is no value, and \(type) is not optional."
            : "A stored value of type \(Swift.type(of: stored ?? "")) is none of \(type)."
    }
}
