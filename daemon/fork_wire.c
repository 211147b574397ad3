#include "daemon/fork_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Room for descriptors, laid out as the kernel wants it. */
typedef union descriptors {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(CM_FORK_PASSED * sizeof(int))];
} descriptors;

size_t cm_fork_ask_size(const cm_fork_ask *ask)
{
  return offsetof(cm_fork_ask, folder) + strlen(ask->folder) + 1;
}

int cm_fork_send(int to, const void *message, size_t size, const int *passed, size_t count)
{
  struct iovec part = {(void *)(uintptr_t)message, size};
  descriptors room = {0};
  struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
  if (count > 0) {
    header.msg_control = room.bytes;
    header.msg_controllen = CMSG_SPACE(count * sizeof *passed);
    struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(count * sizeof *passed);
    memcpy(CMSG_DATA(rights), passed, count * sizeof *passed);
  }
  return sendmsg(to, &header, MSG_NOSIGNAL) < 0 ? errno : 0;
}

ssize_t cm_fork_receive(int from, void *message, size_t size, int *passed, size_t count, int flags)
{
  struct iovec part = {message, size};
  descriptors room;
  struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof room.bytes};
  for (size_t i = 0; i < count; i++)
    passed[i] = -1;
  ssize_t got;
  do
    got = recvmsg(from, &header, flags | MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  const struct cmsghdr *rights = got >= 0 ? CMSG_FIRSTHDR(&header) : NULL;
  if (rights != NULL && rights->cmsg_type == SCM_RIGHTS) {
    const size_t came = (rights->cmsg_len - CMSG_LEN(0)) / sizeof *passed;
    memcpy(passed, CMSG_DATA(rights), (came < count ? came : count) * sizeof *passed);
  }
  return got;
}

int cm_fork_place(const char *data, int *folder, struct sockaddr_un *place)
{
  *folder = open(data, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (*folder < 0)
    return errno;
  *place = (struct sockaddr_un){.sun_family = AF_UNIX};
  (void)snprintf(place->sun_path, sizeof place->sun_path, "/proc/self/fd/%d/" CM_FORK_SOCKET, *folder);
  return 0;
}
