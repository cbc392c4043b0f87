import CoreDataModel
import CoreDataToolkit
import Foundation

/// The content of a keyed archive as a tree of classes and values. No class is instantiated.
///
/// Any class can be shown, also one that this program does not have, and no code of an untrusted archive runs.
struct ArchiveTree {
    struct Node: Sendable, Equatable {
        /// The key in the object above; empty for the root and for elements of a list.
        var name: String
        /// The class of an object, or the text of a value.
        var text: String
        var children: [Node] = []
    }

    /// The number of nodes that may still be made: a small archive can refer to one object many times.
    private var rest = 2_000
    private static let depth = 12
    private static let longestText = 500

    /// Returns the tree; `nil` for bytes that are no keyed archive.
    static func root(of data: Data) -> Node? {
        guard data.starts(with: "bplist".utf8) || data.starts(with: "<?xml".utf8),
            let archive = try? KeyedArchiveReader(data), archive.isSound
        else { return nil }
        var tree = ArchiveTree()
        return tree.node("", archive.root, depth: 0)
    }

    private mutating func node(_ name: String, _ value: ArchivedValue, depth: Int) -> Node {
        rest -= 1
        if let text = value.text { return Node(name: name, text: "“\(Self.shortened(text))”") }
        if let data = value.data { return Node(name: name, text: "\(data.count) bytes") }
        switch value {
        case .none: return Node(name: name, text: "nil")
        case .bool(let value): return Node(name: name, text: value ? "true" : "false")
        case .integer(let value): return Node(name: name, text: String(value))
        case .real(let value): return Node(name: name, text: String(value))
        case .date(let seconds): return Node(name: name, text: Self.date(seconds))
        case .data, .text: return Node(name: name, text: "")
        case .object(let object): return node(name, object, depth: depth)
        }
    }

    private mutating func node(_ name: String, _ object: ArchivedObject, depth: Int) -> Node {
        if object.isKind(of: "NSDate"), let seconds = object["NS.time"].real {
            return Node(name: name, text: Self.date(seconds))
        }
        var node = Node(name: name, text: object.className.isEmpty ? "object" : object.className)
        guard depth < Self.depth else {
            node.text += " …"
            return node
        }
        if object.isKind(of: "NSDictionary"), let entries = object.entries {
            for (key, value) in entries where rest > 0 {
                node.children.append(self.node(key.text ?? "\(key.integer ?? 0)", value, depth: depth + 1))
            }
            node.children.sort { $0.name < $1.name }
        } else if let elements = object.elements {
            for element in elements where rest > 0 { node.children.append(self.node("", element, depth: depth + 1)) }
        } else {
            for key in object.keys where key != "$class" && rest > 0 {
                node.children.append(self.node(key, object[key], depth: depth + 1))
            }
        }
        if rest <= 0 { node.children.append(Node(name: "", text: "…")) }
        return node
    }

    private static func shortened(_ text: String) -> String {
        text.count > longestText ? text.prefix(longestText) + "…" : text
    }

    private static func date(_ seconds: Double) -> String {
        // A date far outside of the calendar has no text.
        abs(seconds) < 1e13 ? DateText.text(Date(timeIntervalSinceReferenceDate: seconds)) : "\(seconds) s"
    }
}

extension ArchiveTree.Node {
    /// The tree as a nested list.
    var html: HTML {
        let label: HTML = name.isEmpty ? "\(text)" : "<b>\(name)</b>: \(text)"
        guard !children.isEmpty else { return "<li>\(label)" }
        return "<li>\(label)<ul>\(children.map(\.html))</ul>"
    }
}
