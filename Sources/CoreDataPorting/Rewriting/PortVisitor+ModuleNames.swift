import SwiftSyntax

/// Names with their module before them, where the module is another one here.
extension PortVisitor {
    /// `Foundation.ValueTransformer`: here CoreData has it, and the name alone finds it. Tells whether that is so.
    func dropModule(_ module: TokenSyntax, before name: TokenSyntax) -> Bool {
        guard module.plainText == "Foundation", FoundationModules.isElsewhere(name.plainText) else { return false }
        use(name.plainText, at: name.span.lowerBound)
        rewrite(module.span.lowerBound..<name.span.lowerBound, to: "", as: .moduleName)
        return true
    }
}
