import CoreDataPrimitives

/// The argument for one `%@`, `%K` or `%d` of a format.
package enum FormatArgument {
    case constant(Constant)
    /// An expression that the caller made; it replaces the `%@`.
    case expression(ExpressionNode)

    package static func string(_ text: String) -> FormatArgument { .constant(.value(.string(text))) }
    package static func integer(_ number: Int64) -> FormatArgument { .constant(.value(.integer(number))) }
    package static func double(_ number: Double) -> FormatArgument { .constant(.value(.double(number))) }
}
