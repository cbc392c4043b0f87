/// A member of a type in its place, before it is known whether the type is a class of managed objects.
struct MemberDeclaration {
    var member: MemberSyntax
    var owner: Owner
    var access: Access
    var conditions: [String]
}
