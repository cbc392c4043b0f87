import SwiftSyntax
import SwiftSyntaxMacros

/// `@_PersistedProperty(index)`: the accessors of a persisted property, which read and write the backing data.
struct PersistedPropertyMacro: AccessorMacro, PeerMacro {
    static let formatMode = FormatMode.disabled

    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        PersistedAccessors(node, declaration, infix: "").map { [$0.accessors] } ?? []
    }

    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        PersistedAccessors(node, declaration, infix: "")?.peers ?? []
    }
}

/// `@_TransformablePersistedProperty(index)`: the same for a value that goes through a value transformer.
struct TransformablePersistedPropertyMacro: AccessorMacro, PeerMacro {
    static let formatMode = FormatMode.disabled

    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        PersistedAccessors(node, declaration, infix: "Transformable").map { [$0.accessors] } ?? []
    }

    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        PersistedAccessors(node, declaration, infix: "Transformable")?.peers ?? []
    }
}

/// The text of a persisted property's accessors and peers.
private struct PersistedAccessors {
    private let index: String
    private let identifier: TokenSyntax
    /// What the names of the backing data's functions have in them: nothing, or `Transformable`.
    private let infix: String

    init?(_ attribute: AttributeSyntax, _ declaration: some DeclSyntaxProtocol, infix: String) {
        guard let variable = declaration.as(VariableDeclSyntax.self), variable.bindings.count == 1,
            let pattern = variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self),
            let index = attribute.labeledArguments.first?.expression.trimmedDescription
        else { return nil }
        self.index = index
        identifier = pattern.identifier.trimmed
        self.infix = infix
    }

    private var name: String { identifier.unescaped }

    var accessors: AccessorDeclSyntax {
        let key = "Self._$key_\(name), \(index)"
        return AccessorDeclSyntax(
            text: """
                @storageRestrictions(accesses: _$backingData, initializes: _\(name))
                init(initialValue) {
                    _$backingData._initialize\(infix)(\(index), to: initialValue)
                    _\(name) = _SwiftDataNoType()
                }
                get {
                    if SwiftData._ModelObservation.isTracking { access(keyPath: \\.\(identifier)) }
                    return _$backingData._read\(infix)(\(key))
                }
                set {
                    guard _$observation.isObserved else {
                        return _$backingData._write\(infix)(newValue, \(key), of: self)
                    }
                    withMutation(keyPath: \\.\(identifier)) {
                        _$backingData._write\(infix)(newValue, \(key), of: self)
                    }
                }
                """)
    }

    var peers: [DeclSyntax] {
        [
            DeclSyntax(text: "private var _\(name): _SwiftDataNoType = .init()"),
            DeclSyntax(text: "private static let _$key_\(name) = SwiftData._ModelKey(\"\(name)\")"),
        ]
    }
}
