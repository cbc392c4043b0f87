import CoreDataPrimitives
import SwiftParser
import SwiftSyntax

/// A source as read from its file.
package struct PortSource: Sendable {
    /// The path by which the source is called in what is reported and compiled.
    package var path: String
    package var text: String

    package init(path: String, text: String) {
        self.path = path
        self.text = text
    }
}

/// Rewrites sources that were written for Apple's platforms where nothing else makes them compile here.
///
///     #keyPath(Book.author.name)      // "author.name"
///     @objc(Book) class Book          // class Book
///     override init(entity: …         // required init(entity: …
///
/// Sources of one module are ported together: a class's superclass may be in another file. Porting what was ported
/// changes nothing. What is inside `#if canImport(UIKit)`, `#if os(macOS)` and the like stays as it is.
package enum Porter {
    /// Ports the sources of a module.
    ///
    /// - Parameters:
    ///   - others: sources of the module that are compiled as they are: what types they declare counts.
    ///   - modules: modules of Apple's that the target has here, as `Combine` of the product of that name: imports of them stay.
    package static func port(
        _ sources: [PortSource], beside others: [PortSource] = [], having modules: Set<String> = []
    ) -> [PortedSource] {
        var parsed = sources.map { ParsedSource($0) }
        let others = others.map { (path: $0.path, tree: Parser.parse(source: $0.text)) }
        func makeIndex() -> SourceIndex {
            SourceIndex(parsed.map { (path: $0.source.path, tree: $0.tree) }, beside: others, having: modules)
        }
        var index = makeIndex()
        for place in parsed.indices { parsed[place].findInterfaceParts(index) }
        // What is left out counts nowhere.
        if parsed.contains(where: { !$0.leftOut.isEmpty }) { index = makeIndex() }
        return parsed.map { parsed in
            let visitor = PortVisitor(text: parsed.text, index: index)
            if parsed.tree.hasError {
                // The compiler says where; nothing is rewritten on a guess.
                visitor.remark(
                    "cannot be read as Swift", .error, at: 0, hint: "the file is left as it is; compile it to see where"
                )
            } else {
                visitor.walk(parsed.tree)
                visitor.declareMembers()
                visitor.completeImports()
                visitor.reportUses()
                for part in parsed.leftOut { visitor.leaveOut(part) }
            }
            return visitor.result
        }
    }
}

/// A source as it is ported: without the declarations that are left out of it.
private struct ParsedSource {
    let source: PortSource
    let text: SourceText
    private(set) var tree: SourceFileSyntax
    private(set) var leftOut: [InterfaceParts.Part] = []

    init(_ source: PortSource) {
        self.source = source
        text = SourceText(path: source.path, text: source.text)
        tree = Parser.parse(source: source.text)
    }

    /// Finds what needs a framework for user interfaces, and takes it out of the tree; what is left is where it was.
    mutating func findInterfaceParts(_ index: SourceIndex) {
        // Most sources name none of them.
        guard !tree.hasError, AppleModules.userInterface.contains(where: source.text.contains) else { return }
        let visitor = PortVisitor(text: text, index: index)
        visitor.walk(tree)
        let uses = visitor.interfaceUses
        guard !uses.isEmpty, let parts = InterfaceParts(of: tree, uses)?.parts else { return }
        let rest = Parser.parse(source: text.blanked(parts.map(\.range)))
        guard !rest.hasError else { return }
        tree = rest
        leftOut = parts
    }
}
