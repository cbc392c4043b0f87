/// What orders the members of an ordered to-many: 2048, 3072, 4096 …, as Apple's framework gives them.
package enum MemberPlace {
    package static let beforeFirst: Int64 = 1024
    package static let distance: Int64 = 1024
}
