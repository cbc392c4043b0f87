/// A member of a type with its location, read before it is known whether the type is a managed object class.
struct MemberDeclaration {
    var member: MemberSyntax
    var owner: Owner
    var access: Access
    var conditions: [String]
}
