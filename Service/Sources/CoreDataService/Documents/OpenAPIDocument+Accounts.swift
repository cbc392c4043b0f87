import CoreDataJSON

// The routes of accounts, sessions, groups, files and administration in an OpenAPI document.
extension OpenAPIDocument {
    /// The schemas that ``accountPaths`` name.
    static let accountSchemas: [JSONValue.Member] = [
        schema(
            "accounts.Account",
            ["id": uuid, "name": string, "isAdministrator": boolean, "isSuspended": boolean, "createdAt": date],
            optional: ["email": string]),
        schema(
            "accounts.Session", ["id": uuid, "device": string, "createdAt": date, "lastUsedAt": date, "endsAt": date],
            optional: ["address": string]),
        schema("accounts.Membership", ["groupID": uuid, "groupName": string, "role": role, "since": date]),
        schema("accounts.Member", ["accountID": uuid, "name": string, "role": role, "since": date]),
        schema(
            "accounts.Invitation",
            ["id": uuid, "groupID": uuid, "role": role, "usesLeft": integer, "createdAt": date, "endsAt": date]),
        schema(
            "accounts.Event", ["id": uuid, "date": date, "kind": string],
            optional: ["accountID": uuid, "actorID": uuid, "groupID": uuid, "address": string, "detail": string]),
        schema(
            "accounts.SignedIn", ["account": reference("accounts.Account"), "session": reference("accounts.Session")],
            optional: [
                "token": ["type": "string", "description": "For Authorization: Bearer; absent if a cookie has it."]
            ]),
    ]

    static let accountPaths: [JSONValue.Member] = [
        path(
            "/accounts",
            get: operation(
                "listAccounts", "A page of all accounts, for administrators", [after, limit(1000)],
                ok(["accounts": list("Account")], optional: ["next": string])),
            post: operation(
                "signUp", "Makes an account; the first one is the administrator",
                body: object(
                    ["name": string, "password": password],
                    optional: ["email": string, "invitation": string, "device": string, "cookie": boolean]),
                created(reference("accounts.SignedIn")))),
        path(
            "/accounts/me",
            get: operation(
                "readOwnAccount", "The account of the token",
                ok([
                    "account": reference("accounts.Account"), "session": reference("accounts.Session"),
                    "memberships": list("Membership"),
                ]))),
        path(
            "/accounts/me/password",
            put: operation(
                "changePassword", "Changes the password, and ends the other sessions",
                body: object(["current": password, "new": password]), empty())),
        path(
            "/accounts/me/email",
            put: operation(
                "changeEmail", "Sends a link to a new address, or removes the address",
                body: object(["password": password], optional: ["email": ["type": ["string", "null"]]]),
                empty("202", "A link was sent, if the address can be used."))),
        path(
            "/accounts/me/export",
            get: operation(
                "exportAccount", "Everything that is stored about the account",
                ok([
                    "account": reference("accounts.Account"), "sessions": list("Session"),
                    "memberships": list("Membership"), "invitations": list("Invitation"), "events": list("Event"),
                ]))),
        path(
            "/accounts/me/events",
            get: operation(
                "listOwnEvents", "The trail of the account", [before, limit(1000)], ok(["items": list("Event")]))),
        path(
            "/accounts/me/deletion",
            post: operation(
                "deleteAccount", "Deletes the account", body: object(["password": password]),
                ok(["deletedGroups": ["type": "array", "items": uuid]]))),
        path(
            "/accounts/{account}", parameters: ["account"],
            patch: operation(
                "changeRights", "Makes an administrator, or suspends an account; for administrators",
                body: object([:], optional: ["isAdministrator": boolean, "isSuspended": boolean]), empty())),
        path(
            "/accounts/{account}/password-reset", parameters: ["account"],
            post: operation(
                "makePasswordReset", "Makes the token of a link for a new password; for administrators",
                created(object(["token": string])))),
        path(
            "/accounts/{account}/sessions", parameters: ["account"],
            delete: operation("endSessionsOfAccount", "Ends all sessions of an account; for administrators", empty())),
        path(
            "/events",
            get: operation(
                "listEvents", "The trail of all accounts, for administrators",
                [query("account", "Of one account only.", uuid), before, limit(1000)], ok(["items": list("Event")]))),
        path(
            "/sessions",
            get: operation("listSessions", "The sessions of the account", ok(["items": list("Session")])),
            post: operation(
                "signIn", "Signs in",
                body: object(["name": string, "password": password], optional: ["device": string, "cookie": boolean]),
                created(reference("accounts.SignedIn"))),
            delete: operation("endOtherSessions", "Ends all sessions but the present one", empty())),
        path("/sessions/current", delete: operation("signOut", "Ends the present session", empty())),
        path(
            "/sessions/{session}", parameters: ["session"],
            delete: operation("endSession", "Ends a session of the account", empty())),
        path(
            "/password-resets",
            post: operation(
                "requestPasswordReset", "Sends a link for a new password", body: object(["name": string]),
                empty("202", "The same answer whatever the name.")),
            put: operation(
                "resetPassword", "Sets a new password", body: object(["token": string, "password": password]), empty())),
        path(
            "/email-confirmations",
            post: operation("confirmEmail", "Confirms an address", body: object(["token": string]), empty())),
        path(
            "/groups",
            get: operation("listGroups", "The groups of the account", ok(["items": list("Membership")])),
            post: operation(
                "createGroup", "Makes a group", body: object(["name": string]),
                created(reference("accounts.Membership")))),
        path(
            "/groups/{group}", parameters: ["group"],
            patch: operation("renameGroup", "Renames a group", body: object(["name": string]), empty()),
            delete: operation("deleteGroup", "Deletes a group with its files", empty())),
        path(
            "/groups/{group}/members", parameters: ["group"],
            get: operation("listMembers", "The members of a group", ok(["items": list("Member")]))),
        path(
            "/groups/{group}/members/{account}", parameters: ["group", "account"],
            patch: operation("changeRole", "Changes the role of a member", body: object(["role": role]), empty()),
            delete: operation(
                "removeMember", "Removes a member; one's own account leaves", [],
                [
                    ("200", "The account has left.", object(["deletedGroups": ["type": "array", "items": uuid]])),
                    ("204", "The member was removed.", nil),
                ])),
        path(
            "/groups/{group}/invitations", parameters: ["group"],
            get: operation("listInvitations", "The open invitations to a group", ok(["items": list("Invitation")])),
            post: operation(
                "invite", "Makes an invitation",
                body: object(
                    ["role": role],
                    optional: ["uses": integer, "lifetime": ["type": "number", "description": "In seconds."]]),
                created(object(["token": string, "invitation": reference("accounts.Invitation")])))),
        path(
            "/groups/{group}/invitations/{invitation}", parameters: ["group", "invitation"],
            delete: operation("revokeInvitation", "Ends an invitation", empty())),
        path(
            "/invitations/preview",
            post: operation(
                "previewInvitation", "The group of an invitation", body: object(["token": string]),
                ok(["groupName": string, "role": role, "endsAt": date]))),
        path(
            "/memberships",
            post: operation(
                "join", "Joins a group by an invitation", body: object(["token": string]),
                created(reference("accounts.Membership")))),
    ]
}
