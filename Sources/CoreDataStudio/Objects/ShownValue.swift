import CoreData
import CoreDataModel
import CoreDataPrimitives
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// An attribute's value as pages show it.
enum ShownValue: Sendable, Equatable {
    case null
    case text(String)
    case number(String)
    case date(String, iso: String)
    case json(String)
    case tree(ArchiveTree.Node)
    case bytes(count: Int, kind: BytesKind)

    init(_ value: Any?, of attribute: NSAttributeDescription) {
        if let data = value as? Data {
            self = Self.bytes(data, of: attribute)
            return
        }
        let cell = AttributeText(attribute: attribute).cell(value)
        switch cell {
        case .null: self = .null
        case .integer, .real, .decimal, .count: self = .number(cell.text ?? "")
        case .date: self = .date(Self.date(cell.text ?? ""), iso: cell.text ?? "")
        case .json(let text): self = .json(text)
        case .object, .list: self = .text(cell.tableText)
        default: self = .text(cell.text ?? "")
        }
    }

    private static func bytes(_ data: Data, of attribute: NSAttributeDescription) -> ShownValue {
        if attribute.kind == .object {
            if let plain = PlainArchive.value(in: data) { return .json(plain.json) }
            if let tree = ArchiveTree.root(of: data) { return .tree(tree) }
        }
        let kind = BytesKind(data)
        return .bytes(count: data.count, kind: kind)
    }

    /// `2024-05-01 12:30:00` of `2024-05-01T12:30:00Z`.
    private static func date(_ text: String) -> String {
        let plain = text.replacing("T", with: " ").replacing("Z", with: "")
        return plain.hasSuffix(" 00:00:00") ? String(plain.dropLast(9)) : plain
    }

    var isNumber: Bool {
        if case .number = self { return true }
        return false
    }

    private static let longestCell = 120

    /// The value in a cell of the grid.
    func cell(at address: Address) -> HTML {
        switch self {
        case .null: return "<span class=null>nil</span>"
        case .number(let text): return "\(text)"
        case .date(let text, let iso): return "<time datetime=\"\(iso)\">\(text)</time>"
        case .text(let text):
            guard text.count > Self.longestCell else { return "\(text)" }
            return "\(String(text.prefix(Self.longestCell)) + "…") <small>\(SizeText.text(text.utf8.count))</small>"
        case .json(let text): return "<code>\(String(text.prefix(Self.longestCell)))</code>"
        case .tree(let node): return "<span class=tag>\(node.text)</span>"
        case .bytes(let count, .picture(_, _)) where count <= Self.largestThumbnail:
            return "<img class=thumb src=\"\(address.with("inline", "1"))\" alt=\"picture\" loading=lazy>"
        case .bytes(let count, _): return "<a href=\"\(address)\" download>\(SizeText.text(count))</a>"
        }
    }

    private static let largestThumbnail = 4 << 20

    /// The value on the object's page.
    ///
    /// - Parameter content: the bytes of a text or JSON value.
    func html(at address: Address, content: String?) -> HTML {
        switch self {
        case .null: return "<span class=null>nil</span>"
        case .number(let text): return "\(text)"
        case .date(let text, let iso): return "<time datetime=\"\(iso)\">\(text)</time> <small>UTC</small>"
        case .text(let text): return "<span class=lines>\(text)</span>"
        case .json(let text): return "<pre class=wrap>\(PrettyJSON.text(text))</pre>\(Self.download(address, nil))"
        case .tree(let node): return "<ul class=tree>\(node.html)</ul>\(Self.download(address, nil))"
        case .bytes(let count, let kind):
            var html: HTML = ""
            switch kind {
            case .picture:
                html = "<p><img class=thumb src=\"\(address.with("inline", "1"))\" alt=\"picture\"></p>"
            case .json: html = "<pre class=wrap>\(PrettyJSON.text(content ?? ""))</pre>"
            case .text: html = "<pre class=wrap>\(content ?? "")</pre>"
            case .other: break
            }
            return "\(html)\(Self.download(address, count))"
        }
    }

    private static func download(_ address: Address, _ count: Int?) -> HTML {
        let size: HTML = count.map { count -> HTML in "\(SizeText.text(count)) · " } ?? ""
        return "<small>\(size)<a href=\"\(address)\" download>Download</a></small>"
    }
}

/// Numbers of bytes for people.
enum SizeText {
    /// Returns `12 bytes`, `3.4 kB`, `1.2 MB`.
    static func text(_ count: Int) -> String {
        if count < 1_000 { return count == 1 ? "1 byte" : "\(count) bytes" }
        var value = Double(count) / 1_000
        for unit in ["kB", "MB", "GB"] {
            if value < 1_000 { return String(format: value < 10 ? "%.1f" : "%.0f", value) + " " + unit }
            value /= 1_000
        }
        return String(format: "%.0f TB", value)
    }
}

/// JSON with a line for each member.
enum PrettyJSON {
    /// Returns the text with indentation and its numbers unchanged; the text itself if it is long or no JSON.
    static func text(_ json: String) -> String {
        guard json.utf8.count <= BytesKind.longestText, let value = FieldValue(json: Data(json.utf8)) else {
            return json
        }
        return text(value, indentation: "")
    }

    private static func text(_ value: FieldValue, indentation: String) -> String {
        let inner = indentation + "  "
        switch value {
        case .list(let elements) where !elements.isEmpty:
            let lines = elements.map { inner + text($0, indentation: inner) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(indentation)]"
        case .object(let fields) where !fields.isEmpty:
            let lines = fields.map { "\(inner)\(JSONText.quoted($0.name)): \(text($0.value, indentation: inner))" }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(indentation)}"
        default: return value.json
        }
    }
}
