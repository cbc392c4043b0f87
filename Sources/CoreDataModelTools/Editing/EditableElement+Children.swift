import CoreDataModel

/// Finds, inserts, moves and removes the children of an element, with the white space around them.
extension EditableElement {
    /// The indices in ``content`` of the child elements with a name; of all child elements if the name is `nil`.
    func places(named name: String? = nil) -> [Int] {
        content.indices.filter { index in
            guard case .element(let element) = content[index] else { return false }
            return name == nil || element.name == name
        }
    }

    /// The child elements with a name; all child elements if the name is `nil`.
    package func children(named name: String? = nil) -> [EditableElement] {
        content.compactMap { part in
            guard case .element(let element) = part, name == nil || element.name == name else { return nil }
            return element
        }
    }

    /// Returns the place of the first child with this element name whose attribute has the value.
    func place(of element: String, where attribute: String = "name", is value: String) -> Int? {
        content.firstIndex { part in
            guard case .element(let child) = part else { return false }
            return child.name == element && child[attribute] == value
        }
    }

    /// Changes the child at a place; other content is not changed.
    mutating func update<Result, Failure: Error>(
        at place: Int, _ change: (inout EditableElement) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard content.indices.contains(place), case .element(var element) = content[place] else { return nil }
        let result = try change(&element)
        content[place] = .element(element)
        return result
    }

    /// Changes every child with one of these element names.
    mutating func updateAll(_ names: Set<String>, _ change: (inout EditableElement) -> Void) {
        for place in content.indices {
            guard case .element(var element) = content[place], names.contains(element.name) else { continue }
            change(&element)
            content[place] = .element(element)
        }
    }

    // MARK: Inserting

    /// Inserts a child on a line of its own, before the child at a place; as the last one if the place is `nil`.
    ///
    /// - Parameter depth: the level of the child; children of the root have level 1.
    mutating func insert(_ child: EditableElement, before place: Int?, depth: Int, style: MarkupStyle) {
        var child = child
        child.layOut(depth: depth, style: style)
        open(depth: depth - 1, style: style)
        let lead = Content.other(leadingSpace(depth: depth, style: style))
        if let place {
            // The white space before the place is that of the next child; the new child gets the same.
            content.insert(contentsOf: [.element(child), lead], at: place)
        } else if let last = places().last {
            content.insert(contentsOf: [lead, .element(child)], at: last + 1)
        } else if content.allSatisfy(\.isBlank) {
            content = [lead, .element(child), .other(style.line(depth: depth - 1))]
        } else {
            // Only comments or text: the child follows them.
            let end = content.last?.isBlank == true ? content.count - 1 : content.count
            content.insert(contentsOf: [lead, .element(child)], at: end)
            if end == content.count - 2 { content.append(.other(style.line(depth: depth - 1))) }
        }
    }

    /// The white space before the first child, if that begins a line; else that of the style.
    private func leadingSpace(depth: Int, style: MarkupStyle) -> String {
        guard let first = places().first, first > 0, content[first - 1].isBlank,
            case .other(let text) = content[first - 1], let line = text.utf8.lastIndex(of: UInt8(ascii: "\n"))
        else { return style.line(depth: depth) }
        return style.lineBreak + text[text.utf8.index(after: line)...]
    }

    /// Gives a self-closing element an end tag.
    private mutating func open(depth: Int, style: MarkupStyle) {
        guard isSelfClosing else { return }
        (isSelfClosing, tagSpace, endTag) = (false, "", "</\(name)>")
    }

    /// Adds the white space between the children of a new element.
    private mutating func layOut(depth: Int, style: MarkupStyle) {
        let children = self.children()
        guard !children.isEmpty, !content.contains(where: \.isBlank) else { return }
        open(depth: depth, style: style)
        content = children.flatMap { child -> [Content] in
            var child = child
            child.layOut(depth: depth + 1, style: style)
            return [.other(style.line(depth: depth + 1)), .element(child)]
        }
        content.append(.other(style.line(depth: depth)))
    }

    // MARK: Removing

    /// Removes the child at a place together with its line. An element without other content becomes self-closing.
    @discardableResult
    mutating func remove(at place: Int) -> EditableElement? {
        guard content.indices.contains(place), case .element(let child) = content[place] else { return nil }
        content.remove(at: place)
        if place > 0, content[place - 1].isBlank { content.remove(at: place - 1) }
        if content.allSatisfy(\.isBlank) {
            (content, isSelfClosing, endTag, tagSpace) = ([], true, "", "")
        }
        return child
    }

    /// Removes every child with an element name that fulfils a condition.
    mutating func removeAll(_ name: String, where condition: (EditableElement) -> Bool = { _ in true }) {
        for place in places(named: name).reversed() {
            guard case .element(let child) = content[place], condition(child) else { continue }
            remove(at: place)
        }
    }

    // MARK: Order

    /// Returns the place where Xcode would put a child: among the children of its kind by name, or after the kinds
    /// before it. `nil` means at the end.
    ///
    /// - Parameters:
    ///   - kinds: the element names in the order of Xcode's files.
    ///   - isSorted: whether children of the kind are sorted by name; otherwise the child is the last of its kind.
    func placeForNew(_ child: EditableElement, kinds: [String], isSorted: Bool) -> Int? {
        let rank = kinds.firstIndex(of: child.name) ?? kinds.count
        let all = places()
        if isSorted, let own = child["name"] ?? child["key"] {
            let siblings = places(named: child.name)
            let names = siblings.compactMap { place -> String? in
                guard case .element(let sibling) = content[place] else { return nil }
                return sibling["name"] ?? sibling["key"] ?? ""
            }
            if zip(names, names.dropFirst()).allSatisfy({ !NameOrder.ignoringCase($1, $0) }),
                let index = names.firstIndex(where: { NameOrder.ignoringCase(own, $0) })
            {
                return siblings[index]
            }
        }
        return all.first { place in
            guard case .element(let other) = content[place], let other = kinds.firstIndex(of: other.name) else {
                return false
            }
            return other > rank
        }
    }
}

/// The white space of new lines in an ``EditableMarkup``.
package struct MarkupStyle: Sendable {
    var lineBreak: String
    var indentation: String

    /// Returns a line break with the indentation of a level.
    func line(depth: Int) -> String { lineBreak + String(repeating: indentation, count: max(0, depth)) }
}

extension EditableMarkup {
    var style: MarkupStyle { MarkupStyle(lineBreak: lineBreak, indentation: indentation) }
}
