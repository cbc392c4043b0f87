import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import CoreDataModelTools

/// The text of a model with elements below `model`.
func modelText(_ elements: String = "", attributes: String = "") -> String {
    """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"\(attributes)>
    \(elements)
    </model>
    """
}

@Suite struct EditableMarkupTests {
    static let texts = [
        "<a/>", "<a></a>", "<a  b = 'c'\n  d=\"&#x41;&quot;\" />",
        "\u{FEFF}<?xml version=\"1.0\"?>\r\n<a>\r\n\t<b/>\r\n</a>\r\n",
        "<!-- < > --><a><!-- <b> --><![CDATA[<c>]]>&amp;<?p <d> ?><b x='>' y=\"/>\"/> text </a><!-- end -->\n",
        "<ä ö='ü'>𝄞</ä>", contentsOfEverything,
    ]

    @Test(arguments: texts) func everyByteIsKept(text: String) throws {
        #expect(try EditableMarkup(Data(text.utf8), file: nil).text == text)
    }

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"), arguments: Fixtures.modelContents)
    func publicModelsAreKept(path: String) throws {
        let data = try Data(contentsOf: Fixtures.url(path))
        #expect(try Data(EditableMarkup(data, file: path).text.utf8) == data)
    }

    /// In every public model: one setting of an attribute and of an entity changes one line each.
    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"), arguments: Fixtures.modelContents)
    func aChangedSettingChangesOneLine(path: String) throws {
        let data = try Data(contentsOf: Fixtures.url(path))
        let document = ModelReader.document(fromContents: data, file: path)
        var count = 0
        for entity in document.entities {
            let modifier = ModelEdit.set(.entity(entity.name), .hashModifier, "<\"changed\">")
            try expectOneLine(data, [modifier])
            count += 1
            for property in entity.properties {
                let place = ModelPath.property(entity: entity.name, name: property.name)
                let optional = property.isOptional ? "NO" : "YES"
                for edit in [ModelEdit.set(place, .isOptional, optional), .set(place, .renamingIdentifier, "former")] {
                    try expectOneLine(data, [edit])
                    count += 1
                }
            }
        }
        #expect(count >= document.entities.count)
    }

    private func expectOneLine(_ data: Data, _ edits: [ModelEdit]) throws {
        var editor = VersionEditor(try EditableMarkup(data, file: nil))
        for edit in edits { try editor.apply(edit) }
        let difference = LineChange(String(decoding: data, as: UTF8.self), editor.markup.text)
        #expect(difference.removed.count == 1 && difference.added.count == 1, "\(edits): \(difference)")
    }

    static let unkept = [
        "<!DOCTYPE a [<!ENTITY b 'c'>]><a d='&b;'/>", "<a>", "", "no XML", "<a><b></a></b>", "<a b='1' b='2'/>",
    ]

    @Test(arguments: unkept) func textThatCannotBeKeptIsRefused(text: String) {
        #expect(throws: ModelFailure.self) { try EditableMarkup(Data(text.utf8), file: "contents") }
    }

    @Test func otherEncodingsAreRefused() {
        let data = Data("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a b='".utf8) + [0xE4] + Data("'/>".utf8)
        #expect(throws: ModelFailure.self) { try EditableMarkup(data, file: "contents") }
    }

    static let values = [
        ("a&amp;b", "a&b"), ("&lt;&gt;&quot;&apos;", "<>\"'"), ("&#65;&#x42;&#128512;", "AB😀"),
        ("a\r\nb\tc\nd", "a b c d"),
        ("&#10;&#9;", "\n\t"), ("&unknown; & ;", "&unknown; & ;"), ("&#xD800;", "&#xD800;"), ("", ""),
    ]

    @Test(arguments: values) func referencesAreDecoded(raw: String, value: String) {
        #expect(MarkupReferences.decoded(raw) == value)
    }

    @Test func attributesKeepTheirOrderAndSpelling() throws {
        var markup = try EditableMarkup(Data("<a z='1'  name = 'x'\n y=\"2\"/>".utf8), file: nil)
        markup.root.set("z", to: "1", order: [])
        markup.root.set("optional", to: "<&\">", order: ["name", "optional", "y"])
        markup.root.set("other", to: "3", order: ["name"])
        #expect(markup.text == "<a z='1'  name = 'x' optional=\"&lt;&amp;&quot;&gt;\"\n y=\"2\" other=\"3\"/>")
        markup.root.set("name", to: "it's", order: [])
        markup.root.set("z", to: nil, order: [])
        #expect(markup.root["name"] == "it's")
        #expect(markup.text.hasPrefix("<a  name = \"it's\" optional="))
    }

    @Test func windowsLineBreaksAreKept() throws {
        let text = modelText("    <entity name=\"A\"/>").replacing("\n", with: "\r\n")
        var editor = VersionEditor(try EditableMarkup(Data(text.utf8), file: nil))
        try editor.apply(.addProperty(.attribute, name: "b", entity: "A"))
        let lines = editor.markup.text.components(separatedBy: "\r\n")
        #expect(lines.count == 6)
        #expect(!lines.contains { $0.contains("\n") })
        try editor.apply(.delete(.property(entity: "A", name: "b")))
        #expect(editor.markup.text == text)
    }
}

/// The lines that differ between two texts.
struct LineChange: Equatable, CustomStringConvertible {
    var removed: [String] = []
    var added: [String] = []

    init(removed: [String] = [], added: [String] = []) {
        self.removed = removed
        self.added = added
    }

    init(_ old: String, _ new: String) {
        let lines = (Self.lines(old), Self.lines(new))
        for change in lines.1.difference(from: lines.0) {
            switch change {
            case .remove(_, let line, _): removed.append(line)
            case .insert(_, let line, _): added.append(line)
            }
        }
        removed.sort()
        added.sort()
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
    }

    var description: String { (removed.map { "- " + $0 } + added.map { "+ " + $0 }).joined(separator: "\n") }
}
