import CoreData

extension ModelMaking {
    /// A model with every kind of relationship and deletion rule.
    ///
    /// | Relationship | Kind |
    /// | --- | --- |
    /// | `Passport.person` – `Person.passport` | one-to-one |
    /// | `Note.folder` – `Folder.notes` | required, cascades |
    /// | `Note.author` – `Person.notes` | optional, nullifies |
    /// | `Member.team` – `Team.members` | denies |
    /// | `Note.topics` – `Topic.notes` | many-to-many, both ordered |
    /// | `Folder.marks` → `Topic` | without an inverse |
    /// | `Note` ← `Sketch` ← `Plan` | inheritance |
    static func office() -> NSManagedObjectModel {
        let person = entity("Person", attribute("name"), toOne("passport"), toMany("notes"))
        let passport = entity("Passport", attribute("name"), toOne("person"))
        let folder = entity("Folder", attribute("name"), toMany("notes"), toMany("marks"))
        let note = entity(
            "Note", attribute("name"), attribute("text"), toOne("folder"), toOne("author"),
            toMany("topics", ordered: true))
        let sketch = entity("Sketch", parent: note, attribute("colour"))
        let plan = entity("Plan", parent: sketch, attribute("scale", .doubleAttributeType))
        let topic = entity("Topic", attribute("name"), toMany("notes", ordered: true))
        let team = entity("Team", attribute("name"), toMany("members"))
        let member = entity("Member", attribute("name"), toOne("team"))
        connect(passport, "person", person, "passport")
        connect(note, "folder", folder, "notes")
        connect(note, "author", person, "notes")
        connect(note, "topics", topic, "notes")
        connect(folder, "marks", topic)
        connect(member, "team", team, "members")
        note.relationshipsByName["folder"]?.isOptional = false
        folder.relationshipsByName["notes"]?.deleteRule = .cascadeDeleteRule
        team.relationshipsByName["members"]?.deleteRule = .denyDeleteRule
        return model(person, passport, folder, note, sketch, plan, topic, team, member)
    }
}
