import Foundation

/// The fields of a form or of a query, in their order; a name may have several values.
///
///     FormFields(urlEncoded: "name=Milk&tag=a&tag=b").all("tag")     // ["a", "b"]
package struct FormFields: Sendable {
    package struct Field: Sendable, Equatable {
        package var name: String
        package var value: String
    }

    package private(set) var fields: [Field] = []

    package init() {}

    /// Reads pairs with percent escapes. Pairs that are no text are left out.
    package init(urlEncoded text: String) {
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Address.plain(parts[0], plusIsBlank: true),
                let value = Address.plain(parts.count > 1 ? parts[1] : "", plusIsBlank: true)
            else { continue }
            fields.append(Field(name: name, value: value))
        }
    }

    /// The last value of the name.
    package subscript(name: String) -> String? { fields.last { $0.name == name }?.value }

    package func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The last value of the name; `nil` also for an empty one.
    package func text(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }

    package func number(_ name: String) -> Int? { self[name].flatMap { Int($0) } }
}

extension FormFields {
    /// Reads the form of a request; without fields for another type of content.
    package init(body request: StudioRequest) {
        let type = request.header("Content-Type") ?? ""
        if type.hasPrefix("application/x-www-form-urlencoded") {
            self.init(urlEncoded: String(decoding: request.body, as: UTF8.self))
        } else {
            self.init()
        }
    }
}
