import Foundation

/// Makes values of types that are known at run time only: from which the layout of structs is learned, and names of key
/// paths.
enum SampleValues {
    /// What types can be within each other.
    static let maximumDepth = 16

    /// No value can be made.
    struct Failure: Error {}

    /// Two different values of a type, or one, or none.
    static func samples<T: Decodable>(of type: T.Type) -> [Any] {
        [0, 1].compactMap { try? value(of: type, variant: $0, depth: 0) }
    }

    static func samples(ofAny type: Any.Type) -> [Any] {
        guard let decodable = type as? any Decodable.Type else { return [] }
        return samples(of: decodable)
    }

    /// A value of a type.
    ///
    /// - Parameter variant: 0 for zero, empty or nil, 1 for another value.
    static func value<T: Decodable>(of type: T.Type, variant: Int, depth: Int) throws -> T {
        guard depth < maximumDepth else { throw Failure() }
        if let scalar = ScalarForm.of(type), let value = scalar.samples[variant] as? T { return value }
        if let optional = type as? any OptionalType.Type {
            if variant == 0, let none = optional.nilValue as? T { return none }
            if let wrapped = optional.wrappedType as? any Decodable.Type {
                let value = try value(of: wrapped, variant: 0, depth: depth + 1)
                if let some = value as? T { return some }
            }
            throw Failure()
        }
        if let cases = TypeMetadata.cases(of: type), cases.isPlain {
            return TypeMetadata.value(at: min(variant, cases.names.count - 1), of: type)
        }
        return try T(from: RecordingDecoder(LayoutRecording(), variant: variant, depth: depth + 1))
    }
}
