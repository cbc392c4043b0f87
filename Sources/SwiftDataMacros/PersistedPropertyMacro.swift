import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@_PersistedProperty(index)`: the accessors of a persisted property, which read and write the backing data.
struct PersistedPropertyMacro: AccessorMacro, PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        PersistedAccessors(node, declaration, infix: "")?.accessors ?? []
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
    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        PersistedAccessors(node, declaration, infix: "Transformable")?.accessors ?? []
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

    var accessors: [AccessorDeclSyntax] {
        let key = "Self._$\(name), \(index)"
        return [
            """
            @storageRestrictions(accesses: _$backingData, initializes: _\(raw: name))
            init(initialValue) {
                _$backingData._initialize\(raw: infix)(\(raw: index), to: initialValue)
                _\(raw: name) = _SwiftDataNoType()
            }
            """,
            """
            get {
                if SwiftData._ModelObservation.isTracking { access(keyPath: \\.\(identifier)) }
                return _$backingData._read\(raw: infix)(\(raw: key))
            }
            """,
            """
            set {
                guard _$observation.isObserved else {
                    return _$backingData._write\(raw: infix)(newValue, \(raw: key), of: self)
                }
                withMutation(keyPath: \\.\(identifier)) {
                    _$backingData._write\(raw: infix)(newValue, \(raw: key), of: self)
                }
            }
            """,
        ]
    }

    var peers: [DeclSyntax] {
        [
            "private var _\(raw: name): _SwiftDataNoType = .init()",
            "private static let _$\(raw: name) = SwiftData._ModelKey(\"\(raw: name)\")",
        ]
    }
}
