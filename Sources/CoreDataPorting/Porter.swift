import CoreDataManagedProperties
import CoreDataPrimitives
import SwiftSyntax

/// A source file and its text.
package struct PortSource: Sendable {
    /// The path of the source in reports and for the compiler.
    package var path: String
    package var text: String

    package init(path: String, text: String) {
        self.path = path
        self.text = text
    }
}

/// Rewrites sources for Apple's platforms, but only where they would not compile here otherwise.
///
///     #keyPath(Book.author.name)      // "author.name"
///     @objc(Book) class Book          // class Book
///     override init(entity: …         // required init(entity: …
///
/// Sources of one module are ported together, because a superclass may be in another file. Porting is idempotent. Code
/// inside `#if canImport(UIKit)`, `#if os(macOS)` and similar conditions is not changed.
package enum Porter {
    /// Ports the sources of a module.
    ///
    /// - Parameters:
    ///   - others: sources of the module that are compiled unchanged; the types that they declare are taken into
    ///     account.
    ///   - modules: Apple's modules that the target has here, such as a package product `Combine`: their imports are
    ///     kept.
    package static func port(
        _ sources: [PortSource], beside others: [PortSource] = [], having modules: Set<String> = []
    ) -> [PortedSource] {
        var parsed = sources.map { ParsedSource($0) }
        let others = others.map { (path: $0.path, tree: SwiftReading.tree(of: $0.text)) }
        func makeIndex() -> SourceIndex {
            SourceIndex(parsed.map { (path: $0.source.path, tree: $0.tree) }, beside: others, having: modules)
        }
        var index = makeIndex()
        for place in parsed.indices { parsed[place].findInterfaceParts(index) }
        // The target's own source may declare a replacement.
        let own = SourceIndex([], beside: others).typeNames
        let gone = parsed.reduce(into: [:]) { $0.merge($1.goneTypes) { $0.union($1) } }.filter { !own.contains($0.key) }
        for place in parsed.indices where !gone.isEmpty { parsed[place].leaveOutExtensions(of: gone) }
        // Omitted declarations do not count.
        if parsed.contains(where: { !$0.leftOut.isEmpty }) { index = makeIndex() }
        return parsed.map { parsed in
            let visitor = PortVisitor(text: parsed.text, index: index)
            if parsed.tree.hasError {
                // The compiler reports the location; nothing is rewritten on a guess.
                visitor.remark(
                    "cannot be read as Swift", .error, at: 0, hint: "the file is left as it is; compile it to see where"
                )
            } else {
                visitor.walk(parsed.tree)
                visitor.declareMembers()
                visitor.completeImports()
                visitor.reportUses()
                for part in parsed.leftOut { visitor.leaveOut(part) }
                if let preview = parsed.lonePreview { visitor.leaveOut(because: preview) }
            }
            return visitor.result
        }
    }
}

/// A source during porting, without the declarations that are omitted from it.
private struct ParsedSource {
    let source: PortSource
    let text: SourceText
    private(set) var tree: SourceFileSyntax
    private(set) var leftOut: [InterfaceParts.Part] = []
    /// The types in omitted declarations, with the frameworks that they need.
    private(set) var goneTypes: [String: Set<String>] = [:]
    /// Whether the whole source is omitted.
    private var isGone = false
    /// The preview because of which the whole source is omitted, if nothing else in it uses a user interface framework.
    private(set) var lonePreview: InterfaceUse?

    init(_ source: PortSource) {
        self.source = source
        text = SourceText(path: source.path, text: source.text)
        tree = SwiftReading.tree(of: source.text)
    }

    /// Finds declarations that need a user interface framework and removes them from the tree; all other positions stay
    /// the same.
    mutating func findInterfaceParts(_ index: SourceIndex) {
        // Most sources use none of them.
        guard !tree.hasError,
            AppleModules.userInterface.contains(where: source.text.contains) || source.text.contains("SwiftData")
                || source.text.contains(InterfaceUse.preview)
        else { return }
        let visitor = PortVisitor(text: text, index: index)
        visitor.walk(tree)
        let uses = visitor.interfaceUses
        let framework = visitor.previewedFramework
        let preview = uses.isEmpty ? InterfaceParts.preview(in: tree, needing: framework) : nil
        guard !uses.isEmpty || preview != nil else { return }
        guard let found = InterfaceParts(of: tree, uses, previewing: framework), leaveOut(found.parts) else {
            isGone = true
            lonePreview = preview
            goneTypes = InterfaceParts.types(in: tree, needing: Set(uses.map(\.framework)))
            return
        }
        goneTypes = found.types
    }

    /// Removes extensions of types that were omitted from another source.
    mutating func leaveOutExtensions(of types: [String: Set<String>]) {
        guard !isGone, !tree.hasError else { return }
        let parts = InterfaceParts(of: tree, extending: types).parts
        if !parts.isEmpty { _ = leaveOut(parts) }
    }

    /// Removes declarations.
    ///
    /// - Returns: whether the rest can be parsed; otherwise nothing is removed.
    private mutating func leaveOut(_ parts: [InterfaceParts.Part]) -> Bool {
        let all = leftOut + parts
        let rest = SwiftReading.tree(of: text.blanked(all.map(\.range)))
        guard !rest.hasError else { return false }
        tree = rest
        leftOut = all
        return true
    }
}
