/// Optional, whatever it wraps.
protocol OptionalValue {
    static var wrappedType: Any.Type { get }
    var unwrapped: Any? { get }
}

extension Optional: OptionalValue {
    static var wrappedType: Any.Type { Wrapped.self }
    var unwrapped: Any? { self }
}

extension OptionalValue {
    /// Whether it is nil, at whatever depth.
    var isNil: Bool {
        guard let unwrapped else { return true }
        return (unwrapped as? any OptionalValue)?.isNil ?? false
    }
}
