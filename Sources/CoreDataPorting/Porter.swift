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
        // A source of the target's own may declare one in its place.
        let own = SourceIndex([], beside: others).typeNames
        let gone = parsed.reduce(into: [:]) { $0.merge($1.goneTypes) { $0.union($1) } }.filter { !own.contains($0.key) }
        for place in parsed.indices where !gone.isEmpty { parsed[place].leaveOutExtensions(of: gone) }
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
    /// The types that it declares and that do not exist here, with the frameworks that they need.
    private(set) var goneTypes: [String: Set<String>] = [:]
    /// Whether nothing of it is left.
    private var isGone = false

    init(_ source: PortSource) {
        self.source = source
        text = SourceText(path: source.path, text: source.text)
        tree = Parser.parse(source: source.text)
    }

    /// Finds what needs a framework for user interfaces, and takes it out of the tree; what is left is where it was.
    mutating func findInterfaceParts(_ index: SourceIndex) {
        // Most sources name none of them.
        guard !tree.hasError,
            AppleModules.userInterface.contains(where: source.text.contains) || source.text.contains("SwiftData")
        else { return }
        let visitor = PortVisitor(text: text, index: index)
        visitor.walk(tree)
        let uses = visitor.interfaceUses
        guard !uses.isEmpty else { return }
        guard let found = InterfaceParts(of: tree, uses), leaveOut(found.parts) else {
            isGone = true
            goneTypes = InterfaceParts.types(in: tree, needing: Set(uses.map(\.framework)))
            return
        }
        goneTypes = found.types
    }

    /// Takes extensions out of the tree whose types are left out of another source.
    mutating func leaveOutExtensions(of types: [String: Set<String>]) {
        guard !isGone, !tree.hasError else { return }
        let parts = InterfaceParts(of: tree, extending: types).parts
        if !parts.isEmpty { _ = leaveOut(parts) }
    }

    /// - Returns: whether what is left can be read; else nothing is taken out.
    private mutating func leaveOut(_ parts: [InterfaceParts.Part]) -> Bool {
        let all = leftOut + parts
        let rest = Parser.parse(source: text.blanked(all.map(\.range)))
        guard !rest.hasError else { return false }
        tree = rest
        leftOut = all
        return true
    }
}
