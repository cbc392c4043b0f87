import Foundation

/// A value of a model that no context has. What models have most of is kept as its own type, without a cast.
@usableFromInline
enum PendingValue {
    case absent
    case integer(Int)
    case real(Double)
    case boolean(Bool)
    case text(String)
    case date(Date)
    case model(any PersistentModel)
    case other(Any)

    /// Returns the value of an attribute. In a specialised accessor only one line of it is left.
    @inlinable
    init<V>(_ value: V) {
        if V.self == String.self {
            self = .text(unsafeBitCast(value, to: String.self))
        } else if V.self == Int.self {
            self = .integer(unsafeBitCast(value, to: Int.self))
        } else if V.self == Double.self {
            self = .real(unsafeBitCast(value, to: Double.self))
        } else if V.self == Bool.self {
            self = .boolean(unsafeBitCast(value, to: Bool.self))
        } else if V.self == Date.self {
            self = .date(unsafeBitCast(value, to: Date.self))
        } else if V.self == String?.self, let text = unsafeBitCast(value, to: String?.self) {
            self = .text(text)
        } else {
            self = .other(value)
        }
    }

    /// The value of a to-one; nil is a value, too.
    @inlinable
    init<V: PersistentModel>(model value: V?) {
        if let value { self = .model(value) } else { self = .other(value as Any) }
    }

    /// The value, whatever it is; `nil` where none was set.
    var any: Any? {
        switch self {
        case .absent: nil
        case .integer(let value): value
        case .real(let value): value
        case .boolean(let value): value
        case .text(let value): value
        case .date(let value): value
        case .model(let value): value
        case .other(let value): value
        }
    }
}
