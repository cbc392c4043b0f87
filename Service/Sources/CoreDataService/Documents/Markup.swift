/// Markup of a page: what stands in the source is markup, what is interpolated is text and is escaped.
struct Markup: ExpressibleByStringInterpolation {
    private(set) var text: String

    init(stringLiteral value: StaticString) { text = value.description }
    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }
    private init(text: String) { self.text = text }

    static func joined(_ parts: some Sequence<Markup>) -> Markup { Markup(text: parts.map(\.text).joined()) }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity * 2) }

        mutating func appendLiteral(_ literal: StaticString) { text += literal.description }

        mutating func appendInterpolation(_ markup: Markup) { text += markup.text }

        mutating func appendInterpolation(_ plain: String) {
            for character in plain {
                switch character {
                case "&": text += "&amp;"
                case "<": text += "&lt;"
                case ">": text += "&gt;"
                case "\"": text += "&quot;"
                case "'": text += "&#39;"
                default: text.append(character)
                }
            }
        }
    }
}
