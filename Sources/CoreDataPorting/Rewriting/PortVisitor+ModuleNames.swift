import SwiftSyntax

/// Ports qualified names whose module differs here.
extension PortVisitor {
    /// Removes the module of `Foundation.ValueTransformer`: here CoreData has the type. Returns whether it did.
    func dropModule(_ module: TokenSyntax, before name: TokenSyntax) -> Bool {
        guard module.plainText == "Foundation", FoundationModules.isElsewhere(name.plainText) else { return false }
        use(name.plainText, at: name.span.lowerBound)
        rewrite(module.span.lowerBound..<name.span.lowerBound, to: "", as: .moduleName)
        return true
    }
}
