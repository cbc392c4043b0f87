/// In what ways of writing SQL databases differ, as named capabilities.
package struct SQLDialect: Hashable, Sendable {
    package enum Placeholder: Hashable, Sendable {
        /// `?`.
        case questionMark
        /// `$1`, `$2`, ….
        case numbered
    }

    package var placeholder: Placeholder

    package init(placeholder: Placeholder) { self.placeholder = placeholder }

    package static let sqlite = SQLDialect(placeholder: .questionMark)
}
