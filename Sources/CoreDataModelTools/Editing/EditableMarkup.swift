/// An XML text as a tree that keeps every byte: quotes, spaces, comments and the order of attributes.
///
/// An edit changes only the parts of the text that it names; all other parts are written as they were read.
///
///     var markup = try EditableMarkup(data, file: "contents")
///     markup.root.set("usedWithCloudKit", to: "YES", order: ContentsWriter.modelOrder)
///     markup.text     // one line differs
package struct EditableMarkup: Hashable, Sendable {
    /// The text before the root element: declaration, comments and white space.
    var head: String
    package var root: EditableElement
    /// The text after the root element.
    var tail: String
    /// The line break of new lines.
    var lineBreak: String
    /// The indentation of one level.
    var indentation: String

    package var text: String {
        var text = head
        root.write(to: &text)
        return text + tail
    }
}

/// An element of an ``EditableMarkup``.
package struct EditableElement: Hashable, Sendable {
    struct Attribute: Hashable, Sendable {
        /// The white space before the name.
        var space = " "
        var name: String
        /// The equals sign with the white space around it.
        var equals = "="
        var quote = "\""
        /// The value as the text spells it, with references.
        var raw: String
    }

    enum Content: Hashable, Sendable {
        case element(EditableElement)
        /// Text, a comment, a CDATA section or a processing instruction, as the text spells it.
        case other(String)

        /// Whether the content is white space only.
        var isBlank: Bool {
            guard case .other(let text) = self else { return false }
            return text.unicodeScalars.allSatisfy { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" }
        }
    }

    package var name: String
    var attributes: [Attribute] = []
    /// The white space before the end of the start tag.
    var tagSpace = ""
    var isSelfClosing = true
    var content: [Content] = []
    /// The end tag; empty if the element is self-closing.
    var endTag = ""

    init(_ name: String, _ attributes: [(name: String, value: String)] = [], children: [EditableElement] = []) {
        self.name = name
        self.attributes = attributes.map { Attribute(name: $0.name, raw: MarkupWriter.escaped($0.value)) }
        content = children.map(Content.element)
    }

    func write(to text: inout String) {
        text += "<" + name
        for attribute in attributes {
            text +=
                attribute.space + attribute.name + attribute.equals + attribute.quote + attribute.raw
                + attribute.quote
        }
        text += tagSpace
        if isSelfClosing {
            text += "/>"
            return
        }
        text += ">"
        for part in content {
            switch part {
            case .element(let element): element.write(to: &text)
            case .other(let raw): text += raw
            }
        }
        text += endTag
    }

    // MARK: Attributes

    /// The value of an attribute; `nil` if the element does not have it.
    package subscript(_ attribute: String) -> String? {
        attributes.first { $0.name == attribute }.map { MarkupReferences.decoded($0.raw) }
    }

    /// Sets an attribute, or removes it if the value is `nil`. An attribute that has the value already keeps its
    /// spelling.
    ///
    /// - Parameter order: the order of attributes in a file of Xcode, which decides where a new attribute is put.
    mutating func set(_ name: String, to value: String?, order: [String]) {
        if self[name] == value { return }
        let index = attributes.firstIndex { $0.name == name }
        switch (index, value) {
        case (nil, nil): break
        case (let index?, nil): attributes.remove(at: index)
        case (let index?, let value?):
            attributes[index].quote = "\""
            attributes[index].raw = MarkupWriter.escaped(value)
        case (nil, let value?):
            attributes.insert(
                Attribute(name: name, raw: MarkupWriter.escaped(value)), at: place(of: name, order: order))
        }
    }

    /// Returns the index before the first attribute that follows the name in the order.
    private func place(of name: String, order: [String]) -> Int {
        guard let rank = order.firstIndex(of: name) else { return attributes.count }
        return attributes.firstIndex { attribute in
            order.firstIndex(of: attribute.name).map { $0 > rank } ?? false
        } ?? attributes.count
    }
}
