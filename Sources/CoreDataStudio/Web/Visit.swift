import Foundation

/// A request that a route matches: the parts of its path, its query and its form.
package struct Visit: Sendable {
    package let request: StudioRequest
    /// The values of the route's parameters, such as `entity` of `/store/rows/:entity`.
    package let parameters: [String: String]
    package let query: FormFields
    /// The form; empty if there is none.
    package let form: FormFields
    /// The secret that forms carry; see ``RequestGuard``.
    package let formToken: String
    /// A message about the previous action, shown once.
    package let message: String?

    /// The value of a parameter of the route.
    package func parameter(_ name: String) -> String { parameters[name] ?? "" }

    /// Whether the script asks for a part of a page.
    package var isFragment: Bool { request.header("X-Studio") == "fragment" }

    /// The hidden field that each form needs.
    package var formField: HTML { "<input type=hidden name=token value=\"\(formToken)\">" }
}

/// An error with the status that a browser gets.
package struct PageFailure: Error {
    package var status: Int
    package var message: String

    package init(_ status: Int, _ message: String) {
        self.status = status
        self.message = message
    }

    package static func missing(_ message: String) -> PageFailure { PageFailure(404, message) }
}
