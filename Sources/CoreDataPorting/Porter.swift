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
        let parsed = sources.map { (source: $0, tree: Parser.parse(source: $0.text)) }
        let index = SourceIndex(
            parsed.map { (path: $0.source.path, tree: $0.tree) },
            beside: others.map { (path: $0.path, tree: Parser.parse(source: $0.text)) }, having: modules)
        return parsed.map { source, tree in
            let text = SourceText(path: source.path, text: source.text)
            let visitor = PortVisitor(text: text, index: index)
            if tree.hasError {
                // The compiler says where; nothing is rewritten on a guess.
                visitor.remark(
                    "cannot be read as Swift", .error, at: 0, hint: "the file is left as it is; compile it to see where"
                )
            } else {
                visitor.walk(tree)
                visitor.declareMembers()
                visitor.completeImports()
                visitor.reportUses()
            }
            return visitor.result
        }
    }
}
